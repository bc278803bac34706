/** placeholder until the next file */
export interface HelloFacts {
  readonly serverName: string | null
}
