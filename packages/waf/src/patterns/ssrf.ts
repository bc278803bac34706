/** Addresses: of local files, of remote files that are included, and of requests made by the server. */
import type { Pattern } from './pattern.ts'
import { any, border, letters, maybe, not, phrases, run, within, words } from './tokens.ts'

export const ssrf: readonly Pattern[] = [
  {
    id: 'rfi-script-address',
    category: 'rfi',
    severity: 'high',
    message: 'The value is the address of a script on another host, cut off with a question mark or NUL',
    score: 5,
    literals: ['http://', 'https://', 'ftp://', 'ftps://'],
    before: [border, run(' "\'', 0, 2)],
    after: [run('a-z0-9.:@_-', 1, 64), run('^ \n?\0', 0, 64), any('??', '?', '%00', '\0'), border],
    match: ['http://h.example/x.txt?', 'ftp://h/shell.txt\0', 'https://h/c.php??'],
    pass: ['https://example.com/?a=b', 'http://example.com/a', 'see http://h/x?'],
  },
  {
    id: 'rfi-shell-address',
    category: 'rfi',
    severity: 'high',
    message: 'The value is the address of something named as a shell or exploit',
    score: 5,
    literals: ['http://', 'https://', 'ftp://', '//', 'ftps://', 'smb://', '\\\\'],
    before: [border, run(' "\'', 0, 2)],
    after: [
      run('a-z0-9.:@_-', 1, 64),
      '/',
      within(
        40,
        [
          any(...words('shell cmd c99 r57 payload exploit backdoor webshell ')),
          run('a-z0-9_-', 0, 8),
          '.',
          any('txt', 'php', 'jsp', 'asp', 'js', 'sh', 'dtd', 'xml', 'svg', 'gif', 'jpg', 'py', 'pl', 'exe'),
        ],
        ' \n',
      ),
    ],
    match: ['http://h/shell.txt', '//h/a/payload.js', 'https://h/exploit.dtd'],
    pass: ['https://example.com/command.html', 'http://h/seashells.html'],
  },
  {
    id: 'rfi-include-address',
    category: 'rfi',
    severity: 'high',
    message: 'A parameter of an inclusion with an address in it',
    score: 5,
    literals: words(`
      auto_prepend_file= auto_append_file= allow_url_include mosconfig_absolute_path= _phplib[libdir]
      globals[ document_root= config[ include_path=
    `),
    after: [within(24, any('http', 'php:', 'data:', 'ftp', '=on', '=1', ' on', '/etc', '../', '//'), '\n')],
    match: ['-d allow_url_include=on', 'auto_prepend_file=php://input', '?_phplib[libdir]=http://h'],
    pass: ['config[a]=b', 'set allow_url_include'],
  },
  {
    id: 'ssrf-metadata',
    category: 'ssrf',
    severity: 'critical',
    message: 'The address of a cloud metadata service',
    score: 5,
    literals: words(`
      169.254.169.254 169.254.170.2 metadata.google.internal 100.100.100.200 metadata.azure instance-data
      [fd00:ec2::254] 0xa9fea9fe 2852039166 0251.0376.0251.0376 0xa9.0xfe.0xa9.0xfe [::ffff:a9fe:a9fe]
      192.0.0.192 metadata/v1 latest/meta-data computemetadata/v1 [::ffff:169.254.169.254] 169.254.43518
      169.16689662
    `),
    before: [any([border, run(' "\'', 0, 2)], run('/@=', 1))],
    after: [any(border, run('/:?#%\\', 1))],
    match: ['http://169.254.169.254/latest/meta-data/', 'http://metadata.google.internal/', '0xa9fea9fe'],
    pass: ['1169.254.169.254', '169.254.1.1', 'my instance-database'],
  },
  {
    id: 'ssrf-loopback-odd',
    category: 'ssrf',
    severity: 'high',
    message: 'The loopback address in a spelling that only filters miss',
    score: 5,
    literals: words(`
      //0x7f //2130706433 //0177. //017700000001 //127.1 //127.0.1 //[::1] //[::] //[0:0:0:0:0:
      //[::ffff:127 //[::ffff:7f //0.0.0.0 //0/ //0: @127.0.0.1 @localhost @[::1] //127.127.
      //localhost.localdomain //localtest.me //lvh.me //0000::1 //127.0.0.1.nip.io
      //127.0.0.1.xip.io //loopback //ip6-localhost
    `),
    after: [run('0-9a-fx.:\\]', 0, 40), any(border, '/', ':', '?', '#', '.', '@', '%')],
    before: [border, run('a-z0-9+', 0, 10), maybe(':'), maybe('//', run('^@ \n/', 0, 40))],
    match: ['http://0x7f000001/', 'http://[::1]:80/', 'http://127.1/x', 'http://x@127.0.0.1/'],
    pass: ['http://0.example/', 'a//0x', 'http://127.0.0.1:3000/cb'],
  },
  {
    id: 'ssrf-loopback-port',
    category: 'ssrf',
    severity: 'high',
    message: 'The value is the address of a service that only the host itself should reach',
    score: 5,
    literals: words('localhost: 127.0.0.1: 0.0.0.0: [::1]: 10.0.0.1: 192.168.0.1: 192.168.1.1: 172.17.0.1:'),
    before: [border, run('a-z0-9+.-', 0, 10), maybe(':'), run('/\\', 0, 3), maybe(run('^/ \n', 0, 24), '@')],
    after: [
      any(
        ...words(`
        22 25 6379 11211 3306 5432 27017 9200 2375 2376 10250 8500 5984 1433 1521 389 445 135 139 111 23 21
        6443 2379 4444 5985 9000
      `),
      ),
      any(border, run('^0-9', 1)),
    ],
    match: ['http://localhost:22', 'http://127.0.0.1:6379/x', 'dict://127.0.0.1:11211/'],
    pass: ['http://localhost:3000/cb', 'localhost:8080', 'see localhost:22'],
  },
  {
    id: 'ssrf-loopback',
    category: 'ssrf',
    severity: 'medium',
    message: 'The value is an address of the host itself or of a private network',
    score: 2,
    aggressive: 5,
    literals: words(`
      //localhost //127.0.0. //10. //192.168. //172.16. //172.17. //169.254. //0.0.0.0 //internal
      //kubernetes.default //host.docker.internal //consul //admin. //intranet
    `),
    before: [border, run('a-z', 0, 8), maybe(':')],
    after: [any(border, run('a-z0-9.:/?', 1))],
    match: ['http://localhost/admin', 'https://10.0.0.1/', '//192.168.1.1/x'],
    pass: ['http://example.com//localhost', 'https://100.example/'],
  },
  {
    id: 'ssrf-scheme',
    category: 'ssrf',
    severity: 'critical',
    message: 'A scheme that speaks another protocol through an address',
    score: 5,
    literals: words(`
      gopher:// dict:// tftp:// ldap:// ldaps:// sftp:// smb:// imap:// pop3:// telnet:// rmi://
      netdoc:// mssql:// redis:// unix:/ php-fpm: jndi:
    `),
    before: [border, run(' "\'(=', 0, 3), maybe('url:')],
    after: [run('^ \n', 2)],
    match: ['gopher://127.0.0.1:6379/_x', 'dict://h:11211/stat', 'ldap://h/x'],
    pass: ['use gopher://x', 'verdict://x', 'redis:'],
  },
  {
    id: 'ssrf-callback-host',
    category: 'ssrf',
    severity: 'high',
    message: 'A host of a service that waits for calls from a server under test',
    score: 5,
    literals: words(`
      .burpcollaborator.net .oastify.com .interact.sh .oast. .dnslog. .ceye.io .requestbin. .bxss.me .xss.ht
      .canarytokens. .pipedream.net .ngrok.io .ngrok-free.app webhook.site .r87.me .vulnweb.com
      .beeceptor.com requestcatcher.com .dnsbin. .tupper. .eyes.sh .nuclei. .xip.io .nip.io .sslip.io
      .rbndr.us 1u.ms bxss.in xsshunter.com
    `),
    before: [run('a-z0-9/.-', 1)],
    after: [any(border, run('^a-z0-9-', 1), letters)],
    match: ['http://abc.oastify.com/', 'x.interact.sh', 'ping a.burpcollaborator.net'],
    pass: ['interact.sh', 'roast.com'],
  },
  {
    id: 'ssrf-confused-authority',
    category: 'ssrf',
    severity: 'high',
    message: 'An address that two readers take for two hosts',
    score: 5,
    literals: ['http://', 'https://', '//'],
    before: [border, run(' ', 0, 2)],
    after: [
      run('a-z0-9.-', 1, 60),
      any(
        ['\\@'],
        ['#@'],
        ['%23@'],
        ['%5c@'],
        ['\\\\@'],
        [':80@'],
        [':80#@'],
        ['&@'],
        [' @'],
        ['\t@'],
        [':@'],
      ),
      run('a-z0-9.[', 1),
    ],
    match: ['http://a.example\\@b.example/', 'https://a.example#@b.example', 'http://a:80@b.example'],
    pass: ['http://example.com/a@b', 'https://user@example.com'],
  },
  {
    id: 'ssrf-port-scan-proto',
    category: 'ssrf',
    severity: 'medium',
    message: 'Line ends in an address: commands for another protocol',
    score: 5,
    literals: ['\r\n', '%0d%0a', '\n'],
    before: [border, run('a-z', 2, 8), within(60, '://', ' \n')],
    after: [
      any(
        ...phrases(`
        SET, CONFIG, FLUSHALL, HELO, EHLO, SLAVEOF, EVAL, stats, PING, QUIT, GET /, POST /, Host:, HTTP/,
        X-, AUTH
      `),
      ),
    ],
    match: ['http://h:6379/\r\nSET a b\r\n', 'http://h/%0d%0aHELO x'],
    pass: ['http://h/\nSee also', 'x\r\nSET'],
  },
  {
    id: 'lfi-wrapper',
    category: 'lfi',
    severity: 'critical',
    message: 'A stream wrapper that reads or runs what it names',
    score: 5,
    literals: words(`
      php:// phar:// expect:// zip:// compress.zlib:// compress.bzip2:// glob:// ogg:// ssh2. rar:// data://
      zlib: file:// jar: netdoc: local_file: view-source:file vfs://
    `),
    before: [any(border, run('^a-z0-9_', 1))],
    after: [
      any(
        'filter',
        'input',
        'stdin',
        'fd',
        'temp',
        'memory',
        'output',
        'text',
        '/',
        'http',
        'file',
        'shell.',
        'exec',
        'id',
        'ls',
        'whoami',
        run('a-z0-9.', 1, 40),
        '%',
      ),
      not(' '),
    ],
    match: [
      'php://filter/convert.base64-encode/resource=x',
      'phar://x.jar',
      'expect://id',
      'file:///etc/x',
      'data://text/plain;base64,PD9w',
    ],
    pass: ['profile://x', 'jar: of jam', 'php: // x', 'a.zip'],
  },
  {
    id: 'lfi-file-address',
    category: 'lfi',
    severity: 'critical',
    message: 'The value is an address of a local file',
    score: 5,
    literals: ['file:/', 'file:\\', 'file:%2f', 'file:c:', 'local_file://', 'netdoc:/'],
    before: [border, run(' "\'(<=', 0, 3), maybe(any('url:', 'view-source:', 'jar:'))],
    after: [run('^ \n', 1)],
    match: ['file:///etc/x', 'url:file:///proc/x', 'file:/etc/x'],
    pass: ['profile:/x', 'the file: x'],
  },
]
