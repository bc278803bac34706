/** Command injection: code of PHP. */
import type { Pattern } from '../pattern.ts'
import { any, border, digits, gap, letters, quote, run, space, within, words } from '../tokens.ts'

const category = 'rce'
const severity = 'critical'
const WHITE = ' \t\n\r\v\f'

export const rcePhp: readonly Pattern[] = [
  {
    id: 'rce-php-tag',
    category,
    severity,
    message: 'PHP code between its tags',
    score: 5,
    literals: [
      '<?php',
      '<?=',
      '<? ',
      '<?\n',
      '<script language="php"',
      "<script language='php'",
      '<script language=php',
    ],
    after: [
      within(
        120,
        any(
          ...words(`
            system( exec( eval( assert( passthru( popen( proc_open( base64_decode( file_put file_get include( require( include_once
            phpinfo shell_exec( die(md5 die(@md5 fopen( readfile( @eval @system unlink( curl_exec( mail( create_function
            call_user_func gzinflate( str_rot13( echo(md5 print(md5 highlight_file( move_uploaded $_GET[0] $_POST[0]
          `),
          '`',
        ),
      ),
    ],
    match: ["<?php system('id');", '<?=`id`?>', '<? eval($_POST[x]) ?>'],
    pass: ['<?xml version="1.0"?>', '<?php', 'the <?php tag', '<?php echo $title; ?>'],
  },
  {
    id: 'rce-php-execute',
    category,
    severity,
    message: 'A function of PHP that runs commands or code',
    score: 5,
    literals: words('system( passthru( shell_exec( popen( proc_open( pcntl_exec( assert( exec( eval('),
    before: [any(border, run(`${WHITE};{(@=&|'"\`!.,\\?`, 1))],
    after: [
      space,
      any(
        [
          quote,
          any(
            'id',
            'ls',
            'cat',
            'whoami',
            'uname',
            'wget',
            'curl',
            'ping',
            'sleep',
            'echo',
            '/bin',
            'nc',
            'dir',
            'cmd',
            'bash',
            'sh ',
            'python',
            'perl',
            'phpinfo',
            'print',
            'rm ',
            'touch',
            'pwd',
            'ps ',
            'net ',
            'type ',
            'system',
            'nslookup',
            'eval',
            'return',
          ),
        ],
        ['$_', any('get', 'post', 'request', 'cookie', 'server', 'files')],
        any(
          ...words(`
          base64_decode str_rot13 gzinflate gzuncompress chr( hex2bin strrev getenv implode urldecode
          apache_ phpinfo file_get end( next( array_pop( current( getallheaders compile( __import__ curl_
          hex_decode
        `),
        ),
      ),
    ],
    match: [
      "system('id')",
      'eval($_GET[x])',
      "exec('whoami')",
      'assert(base64_decode(x))',
      "passthru('cat f')",
    ],
    pass: ['exec(noun)', 'the system(s)', 'ecosystem(x)', 'assert(a == b)', 'file system (new)'],
  },
  {
    id: 'rce-php-superglobal',
    category,
    severity: 'high',
    message: 'A variable of PHP that holds what the client sent',
    score: 2,
    aggressive: 5,
    literals: words(
      '$_GET $_POST $_REQUEST $_COOKIE $_SERVER $_FILES $GLOBALS $_SESSION $HTTP_RAW_POST_DATA $_ENV',
    ),
    after: [space, any('[', '{')],
    match: ["$_GET['c']", 'x($_POST{0})', '$GLOBALS[x]'],
    pass: ['$_GETS', 'the $_POST array'],
  },
  {
    id: 'rce-php-info',
    category,
    severity: 'high',
    message: 'A function of PHP that probes or reads the server',
    score: 4,
    aggressive: 5,
    literals: words(`
      phpinfo( file_get_contents( file_put_contents( readfile( show_source( highlight_file( scandir(
      base64_decode( call_user_func( call_user_func_array( create_function( preg_replace( array_map(
      move_uploaded_file( php_uname( gzinflate( str_rot13( ini_set( putenv( get_defined_vars( getenv(
      apache_setenv( symlink( extract(
    `),
    before: [any(border, run(`;{(@=&|'"\`!$`, 1))],
    after: [space, any([')', any(border, ';', run(`'"}`, 1))], quote, '$', 'base64', [letters, '('], digits)],
    match: [
      'phpinfo();',
      ";file_get_contents('/etc/passwd')",
      "create_function('','x')",
      '@base64_decode($x',
    ],
    pass: ['use file_get_contents (see docs)', 'scandir', 'a phpinfo() call'],
  },
  {
    id: 'rce-php-variable-function',
    category,
    severity: 'high',
    message: 'Code of PHP inside a string',
    score: 5,
    literals: [
      '${@',
      '{${',
      '${system(',
      '${phpinfo(',
      '${print(',
      '${eval(',
      '${exec(',
      '${passthru(',
      '${`',
      '{php}',
      '[php]',
      '${@print(',
    ],
    after: [run('^\n', 1)],
    match: ['${@print(md5(1))}', '{${phpinfo()}}', '{php}echo 1;{/php}'],
    pass: ['${name}', '{phpx}'],
  },
  {
    id: 'rce-php-concat',
    category,
    severity: 'high',
    message: 'A string of PHP is closed, a function called and the string opened again',
    score: 5,
    literals: ["'.", '".', "';", '";', "'.\n", '".\n', "' .", '" .', "');", '");'],
    before: [border, run('^\'"\n', 0, 32)],
    after: [
      space,
      any(
        'print',
        'system',
        'phpinfo',
        'passthru',
        'exec',
        'eval',
        'md5',
        'die',
        'exit',
        'sleep',
        'var_dump',
        'file_get_contents',
        'assert',
        'shell_exec',
        'echo',
        '`',
        'print_r',
        'highlight_file',
        'readfile',
        'usleep',
      ),
      any('(', gap, '`', border),
    ],
    match: ["'.phpinfo().'", "\";system('id');//", "'.print(md5(1));//", 'x".passthru("id")."'],
    pass: ["'.'", "he said 'x'. print", "the 'end'; exit"],
  },
  {
    id: 'rce-php-tag-plain',
    category,
    severity: 'medium',
    message: 'The opening tag of PHP',
    score: 2,
    aggressive: 5,
    literals: ['<?php', '<?='],
    after: [any(run(WHITE, 1), border, '/', quote, '$', '@')],
    match: ['<?php echo 1; ?>', '<?= $x ?>'],
    pass: ['<?phpx', 'php code'],
  },
  {
    id: 'rce-php-probe',
    category,
    severity,
    message: 'The value calls a function of PHP that tells about the server',
    score: 5,
    literals: words(
      'phpinfo() phpversion() php_uname() getcwd() get_current_user() print(md5( die(md5( echo(md5( var_dump(md5(',
    ),
    before: [border, run(`;'"{}$@.() `, 0, 8)],
    match: ['phpinfo()', ';phpinfo();', '${@print(md5(1))}'],
    pass: ['call phpinfo() here', 'my phpversion()'],
  },
]
