/** What directives other than rules set. */

export type EngineMode = 'On' | 'Off' | 'DetectionOnly'

/** Settings of a rule set. Sizes are bytes. */
export interface Settings {
  engine: EngineMode
  requestBodyAccess: boolean
  requestBodyLimit: number
  requestBodyNoFilesLimit: number
  requestBodyLimitAction: 'Reject' | 'ProcessPartial'
  requestBodyJsonDepthLimit: number
  responseBodyAccess: boolean
  responseBodyLimit: number
  responseBodyLimitAction: 'Reject' | 'ProcessPartial'
  /** Media types of responses that are inspected, lower case, without parameters. */
  responseBodyMimeTypes: Set<string>
  argumentsLimit: number
  argumentSeparator: string
  auditEngine: 'On' | 'Off' | 'RelevantOnly'
  auditLogParts: string
  auditLogRelevantStatus: string
  uploadFileLimit: number
  webAppId: string
  componentSignatures: string[]
  /** Seconds that a persistent record lives after its last change. */
  collectionTimeout: number
}

/** Defaults: those of ModSecurity's recommended configuration, with the engine on. */
export function defaultSettings(): Settings {
  return {
    engine: 'On',
    requestBodyAccess: true,
    requestBodyLimit: 13_107_200,
    requestBodyNoFilesLimit: 131_072,
    requestBodyLimitAction: 'Reject',
    requestBodyJsonDepthLimit: 512,
    responseBodyAccess: false,
    responseBodyLimit: 524_288,
    responseBodyLimitAction: 'ProcessPartial',
    responseBodyMimeTypes: new Set(['text/plain', 'text/html', 'text/xml']),
    argumentsLimit: 1000,
    argumentSeparator: '&',
    auditEngine: 'RelevantOnly',
    auditLogParts: 'ABIJDEFHZ',
    auditLogRelevantStatus: '^(?:5|4(?!04))',
    uploadFileLimit: 100,
    webAppId: 'default',
    componentSignatures: [],
    collectionTimeout: 3600,
  }
}
