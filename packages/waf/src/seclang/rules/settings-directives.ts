/** The directives that set something, each with how its value is read. */
import { Mistake } from '../parse/fault.ts'
import { auditParts } from './audit-parts.ts'
import type { Settings } from './settings.ts'

type Setter = (settings: Settings, words: readonly string[]) => void

const ONE = (words: readonly string[]): string => {
  if (words.length !== 1) throw new Mistake(`${words.length} values were given`, 'Give one.')
  return words[0]!
}

const onOff = (words: readonly string[]): boolean => oneOf(words, ['On', 'Off']) === 'On'

function oneOf<const T extends string>(words: readonly string[], choices: readonly T[]): T {
  const word = ONE(words).toLowerCase()
  const found = choices.find(choice => choice.toLowerCase() === word)
  if (found === undefined)
    throw new Mistake(`'${word}' is no value for it`, `Write one of ${choices.join(', ')}.`)
  return found
}

function whole(words: readonly string[], most = Number.MAX_SAFE_INTEGER): number {
  const word = ONE(words)
  const number = Number(word)
  if (!/^\d+$/.test(word) || number > most)
    throw new Mistake(`'${word}' is no whole number up to ${most}`, 'Write digits.')
  return number
}

/** Tested on three digits only, so that V8's engine is good enough: the usual ones need lookahead. */
function statusPattern(words: readonly string[]): string {
  const text = ONE(words)
  try {
    new RegExp(text)
  } catch {
    throw new Mistake(`'${text.slice(0, 80)}' is no regular expression`, 'Write for example ^(?:5|4(?!04)).')
  }
  return text
}

const SETTERS: ReadonlyMap<string, Setter> = new Map<string, Setter>([
  ['secruleengine', (s, w) => void (s.engine = oneOf(w, ['On', 'Off', 'DetectionOnly']))],
  ['secrequestbodyaccess', (s, w) => void (s.requestBodyAccess = onOff(w))],
  ['secrequestbodylimit', (s, w) => void (s.requestBodyLimit = whole(w, 1 << 30))],
  ['secrequestbodynofileslimit', (s, w) => void (s.requestBodyNoFilesLimit = whole(w, 1 << 30))],
  [
    'secrequestbodylimitaction',
    (s, w) => void (s.requestBodyLimitAction = oneOf(w, ['Reject', 'ProcessPartial'])),
  ],
  ['secrequestbodyjsondepthlimit', (s, w) => void (s.requestBodyJsonDepthLimit = whole(w, 10_000))],
  ['secresponsebodyaccess', (s, w) => void (s.responseBodyAccess = onOff(w))],
  ['secresponsebodylimit', (s, w) => void (s.responseBodyLimit = whole(w, 1 << 30))],
  [
    'secresponsebodylimitaction',
    (s, w) => void (s.responseBodyLimitAction = oneOf(w, ['Reject', 'ProcessPartial'])),
  ],
  [
    'secresponsebodymimetype',
    (s, w) => void (s.responseBodyMimeTypes = new Set(w.map(word => word.toLowerCase()))),
  ],
  ['secresponsebodymimetypesclear', s => s.responseBodyMimeTypes.clear()],
  ['secargumentslimit', (s, w) => void (s.argumentsLimit = whole(w, 1_000_000))],
  ['secargumentseparator', (s, w) => void (s.argumentSeparator = ONE(w).slice(0, 1))],
  ['secauditengine', (s, w) => void (s.auditEngine = oneOf(w, ['On', 'Off', 'RelevantOnly']))],
  ['secauditlogparts', (s, w) => void (s.auditLogParts = auditParts(ONE(w)))],
  ['secauditlogrelevantstatus', (s, w) => void (s.auditLogRelevantStatus = statusPattern(w))],
  ['secuploadfilelimit', (s, w) => void (s.uploadFileLimit = whole(w, 100_000))],
  ['secwebappid', (s, w) => void (s.webAppId = ONE(w))],
  ['seccomponentsignature', (s, w) => void s.componentSignatures.push(ONE(w))],
  ['seccollectiontimeout', (s, w) => void (s.collectionTimeout = whole(w, 10 * 365 * 86_400))],
])

/** Directives of servers and of logs that this engine does in another way, or has no use for. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  'secauditlog',
  'secauditlog2',
  'secauditlogdir',
  'secauditlogdirmode',
  'secauditlogfilemode',
  'secauditlogformat',
  'secauditlogstoragedir',
  'secauditlogtype',
  'seccookieformat',
  'secdatadir',
  'secdebuglog',
  'secdebugloglevel',
  'secpcrematchlimit',
  'secpcrematchlimitrecursion',
  'secrequestbodyinmemorylimit',
  'secrulepresence',
  'secruleperftime',
  'secrxprefilter',
  'secsensorid',
  'secserversignature',
  'secstatusengine',
  'sectmpdir',
  'sectmpsaveuploadedfiles',
  'secunicodemapfile',
  'secuploaddir',
  'secuploadfilemode',
  'secuploadkeepfiles',
  'secxmlexternalentity',
])

/** Carries a setting out. False: the directive is none of these. */
export function applySetting(settings: Settings, name: string, words: readonly string[]): boolean {
  const setter = SETTERS.get(name)
  if (setter) setter(settings, words)
  return setter !== undefined || WITHOUT_EFFECT.has(name)
}
