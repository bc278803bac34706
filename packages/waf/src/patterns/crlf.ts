/** Line ends that smuggle fields and commands. */
import { oneArgument } from './context.ts'
import type { Pattern } from './pattern.ts'
import { any, border, digits, gap, maybe, run, space, type Token, within, words } from './tokens.ts'

const lineEnd: Token = any('\r\n', '\n', '\r', '\n\r')
/** The line end comes behind one argument: a field smuggled in, not a text of several lines. */
const smuggled: readonly Token[] = [oneArgument, run(' \t', 0, 4), run('\r\n', 1, 4), run(' \t', 0, 3)]
const _agent = ['header:user-agent']

export const crlf: readonly Pattern[] = [
  {
    id: 'crlf-set-cookie',
    category: 'crlf',
    severity: 'high',
    message: 'A line end and the start of a field that sets a cookie',
    score: 5,
    literals: ['set-cookie', 'set-cookie2'],
    before: [
      any('\n', '\r', '\\r\\n', '%0a', '%0d', '\xe5\x98\x8a', '\xe5\x98\x8d', '\x0b', '\x85'),
      run(' \t', 0, 2),
    ],
    after: [space, any(':', '=', '%3a')],
    match: ['\r\nSet-Cookie: a=b', 'x\nset-cookie:a', '\xe5\x98\x8aSet-Cookie: x=1'],
    pass: ['the Set-Cookie: field', 'set-cookie'],
  },
  {
    id: 'crlf-field',
    category: 'crlf',
    severity: 'high',
    message: 'A line end and a field of HTTP behind one argument',
    score: 5,
    literals: words(`
      location: content-type: content-length: transfer-encoding: host: x-forwarded- x-xss-protection:
      access-control- refresh: content-disposition: last-modified: referer: user-agent: cookie:
      authorization: x- connection: via: link: etag: cache-control: server: status:
    `),
    before: smuggled,
    after: [run('a-z0-9-', 0, 24), maybe(':'), run('^\n', 1)],
    match: ['x\r\nLocation: http://h', '\nX-Test: 1', 'a\r\nContent-Length: 0'],
    pass: ['My address\nLocation: Berlin', 'x-ray\nhost', 'one two\nserver: x'],
  },
  {
    id: 'crlf-response',
    category: 'crlf',
    severity: 'critical',
    message: 'A line end and the start of a whole reply or request',
    score: 5,
    literals: ['http/1.', 'http/2', 'http/0.9'],
    before: smuggled,
    after: [run('0-9', 0, 1), any([gap, digits], lineEnd, border)],
    match: ['x\r\n\r\nHTTP/1.1 200 OK', 'a\nHTTP/1.0 302 Found'],
    pass: ['uses HTTP/1.1', 'HTTP/1.1 200 OK'],
  },
  {
    id: 'crlf-encoded',
    category: 'crlf',
    severity: 'high',
    message: 'An encoded line end and a field behind it',
    score: 5,
    literals: ['%0d%0a', '%0a', '%0d', '%e5%98%8a', '\\r\\n', '%250a', '%u000a', '%5cr%5cn'],
    after: [
      run(' \t%092', 0, 6),
      any(
        ...words(`
        set-cookie location content- x- http/ host: transfer- refresh <script bcc: cc: to: subject: access-control
      `),
      ),
    ],
    match: ['%0d%0aSet-Cookie:a', '\\r\\nLocation: x', '%0aContent-Type:text/html'],
    pass: ['100%0d', '\\r\\n ends', 'a%0ab'],
  },
  {
    id: 'crlf-body',
    category: 'crlf',
    severity: 'high',
    message: 'Two line ends and markup: a reply split in two',
    score: 5,
    literals: ['\r\n\r\n<', '\n\n<', '\r\r<', '\r\n\r\n\r\n<'],
    before: [
      any(
        [border, run('^ \n<', 0, 64)],
        within(40, any('-type', 'length', 'encoding', 'location', '200 ok'), '\n'),
      ),
    ],
    after: [any('script', 'html', 'svg', 'iframe', 'body')],
    match: ['x\r\n\r\n<script>', 'Content-Length: 0\r\n\r\n<html>'],
    pass: ['one two\n\n<html>', '\n\n<p>'],
  },
  {
    id: 'crlf-mail-field',
    category: 'crlf',
    severity: 'high',
    message: 'A line end and a field of a mail',
    score: 5,
    literals: words(`
      bcc: cc: to: from: subject: reply-to: mime-version: content-transfer-encoding: return-path: x-mailer:
      sender:
    `),
    before: smuggled,
    after: [
      space,
      any([run('a-z0-9._+-', 1, 64), '@'], [run('^\n', 1, 60), any('\n', border)], digits, 'multipart', '<'),
    ],
    match: ['x@y.example\nBcc: a@b.example', 'Hi\r\nTo:a@b.example', '\nSubject: x'],
    pass: ['Dear all\nTo: everyone', 'to: x', 'cc: y'],
  },
  {
    id: 'crlf-smtp-command',
    category: 'crlf',
    severity: 'high',
    message: 'A line end and a command of SMTP',
    score: 5,
    literals: [
      'mail from:',
      'rcpt to:',
      'ehlo ',
      'helo ',
      'vrfy ',
      'expn ',
      'data\r\n',
      'data\n',
      'quit\r\n',
      'quit\n',
      'rset\r\n',
      'starttls',
      'auth login',
      'auth plain',
      'quit',
      'noop',
      'rset',
      'data',
      'help',
    ],
    before: smuggled,
    after: [
      any(
        within(60, any('@', '<', '>'), '\n'),
        [space, border],
        [run(' ', 0, 2), lineEnd],
        [run('a-z0-9.-', 3, 60), any(lineEnd, border)],
      ),
    ],
    match: [
      '\nRCPT TO: a@b.example\n',
      'x\r\nQUIT\r\n',
      '\r\nDATA\r\n',
      'a\nMAIL FROM:<b@c.example>',
      '\r\nHELO h.example\r\n',
    ],
    pass: ['do not\nquit', 'quit\n', 'big data\nquit now'],
  },
  {
    id: 'crlf-imap-command',
    category: 'crlf',
    severity: 'high',
    message: 'A line end, a tag and a command of IMAP or POP3',
    score: 5,
    literals: words(`
      capability fetch login logout select examine create delete rename append store copy search expunge
      list lsub noop status authenticate subscribe retr dele stat uidl top user pass close uid starttls
    `),
    before: [
      oneArgument,
      run(' \t', 0, 4),
      run('\r\n', 1, 4),
      any([run('a-z', 1, 4), run('0-9', 1, 6)], run('0-9', 1, 6), run('a-z', 1)),
      ' ',
      maybe('uid '),
    ],
    after: [any([space, border], lineEnd, [' ', run('a-z0-9"*%({[:', 1)])],
    match: ['\r\nV100 CAPABILITY\r\nV101 FETCH 1', 'x\r\nA001 LOGIN a b', '\n1 SELECT INBOX'],
    pass: ['one two\n3 fetch sticks', 'V100 CAPABILITY', '\nfetch 1'],
  },
  {
    id: 'crlf-log-forging',
    category: 'crlf',
    severity: 'medium',
    message: 'A line end and the start of a line of a log',
    score: 3,
    aggressive: 5,
    literals: ['INFO', 'WARN', 'ERROR', 'DEBUG', '127.0.0.1 - -', '[error]', '[notice]', 'FATAL'],
    before: [...smuggled],
    after: [any([run(' :\\]', 1, 2), run('a-z[', 1)], ' [')],
    match: ['bob\nINFO: user logged in', 'x\r\n127.0.0.1 - - ['],
    pass: ['more INFO: here', 'one two\nINFO: x'],
  },
  {
    id: 'protocol-request-smuggled',
    category: 'protocol',
    severity: 'high',
    message: 'A whole request inside a value',
    score: 4,
    aggressive: 5,
    literals: [
      'get /',
      'post /',
      'put /',
      'delete /',
      'get http',
      'post http',
      'head /',
      'options /',
      'trace /',
      'connect ',
    ],
    before: [any('\n', '\r')],
    after: [run('^ \n', 0, 80), ' http/', run('0-9', 1)],
    match: ['x\r\nGET /admin HTTP/1.1\r\n', '0\r\n\r\nPOST / HTTP/1.1'],
    pass: ['GET / HTTP/1.1', 'then\nget /x'],
  },
]
