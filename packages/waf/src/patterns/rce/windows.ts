/** Command injection: Windows and PowerShell. */
import type { Pattern } from '../pattern.ts'
import { any, border, phrases, run, space, within } from '../tokens.ts'

const category = 'rce'
const severity = 'critical'
const WHITE = ' \t\n\r\v\f'

export const rceWindows: readonly Pattern[] = [
  {
    id: 'rce-windows-command',
    category,
    severity,
    message: 'A command of Windows with its arguments',
    score: 5,
    literals: phrases(`
      cmd /c, cmd.exe /c, cmd /k, cmd.exe, powershell -, powershell.exe, net user, net localgroup, net view, reg add, reg query,
      certutil -, certutil.exe, bitsadmin /, wmic process, schtasks /, rundll32, regsvr32 /, mshta http, vssadmin delete,
      type c:, type %, dir c:, dir %, del /f, start-process, invoke-webrequest, -encodedcommand, set-executionpolicy
    `),
    before: [any(border, run(`${WHITE};|&"'\`(/\\=%`, 1))],
    after: [
      within(
        40,
        any('/', '\\', ' -', '|', '&', '>', 'http', '"', "'", 'enc ', 'nop', 'noni', 'exec', 'file'),
        '\n,;.',
      ),
    ],
    match: ['cmd /c dir c:\\', 'powershell -enc aQBk', 'net user x y /add', 'type c:\\boot.ini'],
    pass: ['net users grew', 'directory', 'use powershell', 'type of check'],
  },
  {
    id: 'rce-windows-variable',
    category,
    severity: 'high',
    message: 'A variable of Windows that names a system folder or shell',
    score: 4,
    aggressive: 5,
    literals: [
      '%systemroot%',
      '%windir%',
      '%comspec%',
      '%systemdrive%',
      '%appdata%',
      '%programdata%',
      '%userprofile%',
      '%temp%',
      '$env:',
      '${env:comspec',
      '%public%',
    ],
    after: [any('\\', '/', 'temp', 'comspec', 'windir', 'path', 'userprofile', [space, border])],
    match: ['%windir%\\system32', '%COMSPEC%', '$env:temp'],
    pass: ['$env:x', '%temp%erature'],
  },
  {
    id: 'rce-powershell-call',
    category,
    severity,
    message: 'PowerShell that fetches or runs text as code',
    score: 5,
    literals: phrases(`
      iex(, iex (, downloadstring(, downloadfile(, frombase64string(, new-object net.webclient, new-object system.net,
      invoke-expression (, invoke-expression $, [convert]::, [system.text.encoding], start-bitstransfer, | invoke-expression
    `),
    after: [run('^\n', 1)],
    match: ["iex(new-object net.webclient).downloadstring('http://h')", "(x).DownloadString('y')"],
    pass: ['invoke-expression is bad', 'iex'],
  },
]
