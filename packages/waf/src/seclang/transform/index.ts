/** The transformations of the rule language by name. Each takes and gives a byte string, in time linear in its length. */
import { base64Decode, base64DecodeExt, base64Encode } from './base64.ts'
import { lowercase, uppercase } from './case.ts'
import { cmdLine } from './cmd-line.ts'
import { removeComments, removeCommentsChar, replaceComments } from './comments.ts'
import { cssDecode } from './css-decode.ts'
import { md5, sha1 } from './digest.ts'
import { escapeSeqDecode } from './escape-seq-decode.ts'
import { hexDecode, hexEncode, sqlHexDecode } from './hex.ts'
import { htmlEntityDecode } from './html-entity-decode.ts'
import { jsDecode } from './js-decode.ts'
import { normalisePath, normalisePathWin } from './normalise-path.ts'
import { removeNulls, replaceNulls } from './nulls.ts'
import { parityEven7bit, parityOdd7bit, parityZero7bit } from './parity.ts'
import { urlDecode } from './url-decode.ts'
import { urlDecodeUni } from './url-decode-uni.ts'
import { urlEncode } from './url-encode.ts'
import { utf8ToUnicode } from './utf8-to-unicode.ts'
import { compressWhitespace, removeWhitespace, trim, trimLeft, trimRight } from './white-space.ts'

/** A step from a byte string to a byte string. */
export type Transformation = (value: string) => string

const length: Transformation = value => String(value.length)

const BY_NAME: ReadonlyMap<string, Transformation> = new Map<string, Transformation>([
  ['base64decode', base64Decode],
  ['base64decodeext', base64DecodeExt],
  ['base64encode', base64Encode],
  ['cmdline', cmdLine],
  ['compresswhitespace', compressWhitespace],
  ['cssdecode', cssDecode],
  ['escapeseqdecode', escapeSeqDecode],
  ['hexdecode', hexDecode],
  ['hexencode', hexEncode],
  ['htmlentitydecode', htmlEntityDecode],
  ['jsdecode', jsDecode],
  ['length', length],
  ['lowercase', lowercase],
  ['md5', md5],
  ['normalisepath', normalisePath],
  ['normalisepathwin', normalisePathWin],
  ['normalizepath', normalisePath],
  ['normalizepathwin', normalisePathWin],
  ['parityeven7bit', parityEven7bit],
  ['parityodd7bit', parityOdd7bit],
  ['parityzero7bit', parityZero7bit],
  ['removecomments', removeComments],
  ['removecommentschar', removeCommentsChar],
  ['removenulls', removeNulls],
  ['removewhitespace', removeWhitespace],
  ['replacecomments', replaceComments],
  ['replacenulls', replaceNulls],
  ['sha1', sha1],
  ['sqlhexdecode', sqlHexDecode],
  ['trim', trim],
  ['trimleft', trimLeft],
  ['trimright', trimRight],
  ['uppercase', uppercase],
  ['urldecode', urlDecode],
  ['urldecodeuni', urlDecodeUni],
  ['urlencode', urlEncode],
  ['utf8tounicode', utf8ToUnicode],
])

/** The transformation with this name, in any case; `undefined` when there is none. */
export function transformation(name: string): Transformation | undefined {
  return BY_NAME.get(name.toLowerCase())
}

/** All names, for error messages. */
export const transformationNames: readonly string[] = [...BY_NAME.keys()]
