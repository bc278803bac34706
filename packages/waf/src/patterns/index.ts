/** All patterns of the package. */

import { crlf } from './crlf.ts'
import { deserialisation } from './deserialisation.ts'
import { graphql } from './graphql.ts'
import { ldap } from './ldap.ts'
import { lfi } from './lfi.ts'
import { nosql } from './nosql.ts'
import type { Pattern } from './pattern.ts'
import { rceCommands } from './rce/commands.ts'
import { rceLanguages } from './rce/languages.ts'
import { rcePhp } from './rce/php.ts'
import { rceSpelling } from './rce/spelling.ts'
import { rceWindows } from './rce/windows.ts'
import { scanner } from './scanner.ts'
import { sqliConditions } from './sqli/conditions.ts'
import { sqliFunctions } from './sqli/functions.ts'
import { sqliQueries } from './sqli/queries.ts'
import { ssrf } from './ssrf.ts'
import { ssti } from './ssti.ts'
import { xssAddresses } from './xss/addresses.ts'
import { xssCalls } from './xss/calls.ts'
import { xssMarkup } from './xss/markup.ts'
import { xssPages } from './xss/pages.ts'
import { xxe } from './xxe.ts'

/** The patterns, family by family. */
export const patterns: readonly Pattern[] = Object.freeze([
  ...sqliConditions,
  ...sqliQueries,
  ...sqliFunctions,
  ...xssAddresses,
  ...xssMarkup,
  ...xssCalls,
  ...xssPages,
  ...rceWindows,
  ...rceSpelling,
  ...rceCommands,
  ...rcePhp,
  ...rceLanguages,
  ...lfi,
  ...ssrf,
  ...nosql,
  ...ldap,
  ...graphql,
  ...deserialisation,
  ...xxe,
  ...ssti,
  ...crlf,
  ...scanner,
])
