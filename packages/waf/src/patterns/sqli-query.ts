/** SQL injection: whole queries, statements, functions and tables. */
import { brokenOut, numberSoFar, sqlNumber } from './context.ts'
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
  within,
  word,
  words,
} from './tokens.ts'

const category = 'sqli'
const severity = 'critical'
const all = maybe(any('all', 'distinct', 'distinctrow'), run(' \t\n\r(+', 1, 8))
const open = run(' \t\n\r(+', 1, 16)
/** In front of a function: what makes it part of an expression of SQL. */
const expression = [
  any(...words('select and or xor when then else where having by in like if( || && , = (')),
  run(' \t\n(+!', 0, 8),
]

export const sqliQuery: readonly Pattern[] = [
  {
    id: 'sqli-union-broken',
    category,
    severity,
    message: 'UNION SELECT behind a closed string or number',
    score: 5,
    literals: ['union'],
    before: [any(brokenOut, [border, run(' (', 0, 8), 'null', gap], ['null', gap])],
    after: [open, all, 'select', not(run('a-z0-9_', 1))],
    match: ["' union select 1", '-1 UNION ALL SELECT 2', "x') union(select 1", 'null union select a'],
    pass: [
      'SELECT a FROM t UNION SELECT b FROM u',
      'the union select committee',
      'European Union, select members',
    ],
  },
  {
    id: 'sqli-union-columns',
    category,
    severity,
    message: 'UNION SELECT with counted columns, version or a hexadecimal mark',
    score: 5,
    literals: ['union'],
    after: [
      open,
      all,
      'select',
      run(' \t\n\r(+', 0, 16),
      any([any('null', sqlNumber, [quote, word, quote]), space, any(',', border, '--', '#')], '@@', [
        any(...words('version user database current_user concat group_concat char load_file unhex')),
        any(edge, '('),
      ]),
    ],
    match: [
      'a union select 1,2,3',
      'x union all select null,null',
      'z union select @@version',
      "q union select 'a',2",
    ],
    pass: ['t1 UNION SELECT name FROM t2', 'credit union select one of'],
  },
  {
    id: 'sqli-union-select',
    category,
    severity: 'medium',
    message: 'UNION SELECT somewhere in a text',
    score: 2,
    aggressive: 5,
    literals: ['union'],
    before: [edge],
    after: [open, all, 'select', any(gap, '(', '*'), not(any('few', 'committee', 'the', 'an'))],
    match: ['FROM t UNION SELECT name FROM u'],
    pass: ['union of selected', 'reunion select', 'union select committee'],
  },
  {
    id: 'sqli-version-comment',
    category,
    severity,
    message: 'A keyword inside a version comment of MySQL',
    score: 5,
    literals: ['/*!'],
    after: [
      run('0-9', 0, 6),
      space,
      any(
        ...words(
          'union select or and from where having sleep concat group order distinct all limit into benchmark',
        ),
      ),
      not(run('a-z0-9_', 1)),
    ],
    match: ['1 /*!50000union*/ /*!select*/ 1', '/*!oR*/ 1', "'/*!and*/1"],
    pass: ['/*!40101 SET NAMES utf8 */;', '/* or */', '/*! normalize.css v8 */'],
  },
  {
    id: 'sqli-comment-keyword',
    category,
    severity: 'high',
    message: 'Comments in place of spaces between keywords',
    score: 5,
    literals: ['/**/', '/*_*/', '*/'],
    before: [
      any('union', 'select', 'or', 'and', 'from', 'where', 'all', 'by', 'having', 'like', '1', "'"),
      maybe('/*', run('a-z0-9_ ', 0, 16)),
    ],
    after: [
      run('/*', 0, 4),
      any(
        'select',
        'union',
        'or',
        'and',
        'from',
        'where',
        'all',
        'like',
        'having',
        'sleep',
        digits,
        quote,
        'null',
        'group',
        'order',
        'by',
      ),
      not(run('a-z', 1)),
      any('/*', '(', '=', gap, quote, border, ','),
    ],
    match: ['1/**/union/**/select/**/2', "'/**/or/**/1=1", 'union/*a*/select/**/'],
    pass: ['/* a */ and b', 'a /**/ b', 'select all */ from'],
  },
  {
    id: 'sqli-subquery-start',
    category,
    severity,
    message: 'The value is a subquery',
    score: 5,
    literals: ['select'],
    before: [border, run(' \t(+-,;', 1, 8)],
    after: [
      any(gap, '(', '*', quote),
      within(80, any('from', 'sleep', 'benchmark', '@@', 'concat', 'char(')),
    ],
    match: ['(select(0)from(select(sleep(1)))v)', '(select group_concat(x) from y)', '; select * from t'],
    pass: ['SELECT name FROM t', '(select one) for more', '(selected from list)'],
  },
  {
    id: 'sqli-tight-select',
    category,
    severity,
    message: 'A query written with brackets in place of spaces',
    score: 5,
    literals: ['select('],
    after: [within(60, any(')from(', '`from`', ')from `', ')from '))],
    match: ['if(select(1)from(t))', 'select(password)from(users)'],
    pass: ['select(a)', 'select(name, address) and more'],
  },
  {
    id: 'sqli-select-secret',
    category,
    severity: 'high',
    message: 'A query for passwords or accounts',
    score: 3,
    aggressive: 5,
    literals: ['select'],
    before: [edge],
    after: [
      gap,
      within(60, [
        any(...words('password passwd pwd username user_pass credit_card api_key secret login')),
        within(60, [gap, 'from', gap, letters]),
      ]),
    ],
    match: ['select username, password from users', 'SELECT a,passwd FROM t'],
    pass: ['select a password', 'please select your username'],
  },
  {
    id: 'sqli-stacked-query',
    category,
    severity,
    message: 'A second statement behind a closed string or number',
    score: 5,
    literals: [';'],
    before: [any(brokenOut, [border, run('a-z0-9_-', 0, 32), run(`'")`, 0, 3)])],
    after: [
      space,
      any(
        [
          any('drop', 'alter', 'truncate', 'create'),
          gap,
          any('table', 'database', 'user', 'view', 'schema', 'procedure', 'function', 'login', 'index'),
        ],
        [any('insert', 'replace', 'merge'), gap, 'into', gap],
        ['delete', gap, 'from', gap],
        ['update', gap, word, gap, 'set', gap],
        ['select', any(gap, '(', '*'), within(60, any('from', '(', '@@'))],
        ['waitfor', gap, any('delay', 'time')],
        [
          any('exec', 'execute', 'declare'),
          any(gap, '('),
          any('@', 'master', 'xp_', 'sp_', quote, 'immediate', '('),
        ],
        [any('shutdown', 'vacuum', 'rollback', 'commit'), any([space, border], ';', [gap, '--'])],
        ['copy', gap, word, gap, any('from', 'to'), gap],
        ['grant', gap, within(30, ['to', gap])],
        ['attach', gap, 'database'],
      ),
    ],
    match: [
      "'; drop table users",
      '1;insert into t values(1)',
      "x';exec xp_cmdshell 'dir",
      '1; select pg_sleep(5)',
      "'; shutdown --",
    ],
    pass: [
      'drop me a line; update me -- thanks',
      'done; select a plan',
      "We're here; drop table tennis",
      'a; commit early',
    ],
  },
  {
    id: 'sqli-time-call',
    category,
    severity,
    message: 'A function that waits, in an expression of SQL',
    score: 5,
    literals: ['sleep(', 'pg_sleep(', 'benchmark(', 'randomblob(', 'sleep ('],
    before: [
      any(expression, [brokenOut, maybe(any('+', '-', '*', '/', '^', '%', '|'), space)], [border, space]),
    ],
    after: [space, run(`'"-(`, 0, 2), any(digits, ['select', edge]), run('^\n', 0, 40), maybe(')')],
    match: [
      '1 and sleep(5)',
      'select pg_sleep(10)',
      "'+sleep(3)+'",
      'if(1=1,benchmark(1000000,md5(1)),0)',
      'sleep(10)',
    ],
    pass: ['time.sleep(5)', 'await sleep(ms)', 'benchmark (2020)'],
  },
  {
    id: 'sqli-wait-statement',
    category,
    severity,
    message: 'A statement or procedure that waits',
    score: 5,
    literals: words(
      'waitfor dbms_pipe.receive_message dbms_lock.sleep dbms_session.sleep pg_sleep_for generate_series(1,',
    ),
    after: [any([gap, any('delay', 'time'), space, quote], [space, '('], [digits])],
    match: ["waitfor delay '0:0:5'", "dbms_pipe.receive_message('a',10)", 'generate_series(1,10000000)'],
    pass: ['waitfor the delay', 'dbms_lock.sleep docs'],
  },
  {
    id: 'sqli-error-call',
    category,
    severity,
    message: 'A function that puts data into an error message',
    score: 5,
    literals: words(`
      extractvalue( updatexml( xmltype( gtid_subset( json_keys( exp(~ floor(rand( st_latfromgeohash(
      utl_inaddr. ctxsys.drithsx dbms_xmlgen dbms_utility. multipoint( geometrycollection( polygon((select
      linestring((select ora_hash(
    `),
    after: [
      within(
        60,
        any('select', 'concat', '0x', 'version', 'user', 'chr(', 'char(', '*2', 'database', '@@', 'get_host'),
      ),
    ],
    match: [
      'and extractvalue(1,concat(0x7e,version()))',
      'updatexml(1,concat(0x7e,(select user())),1)',
      'floor(rand(0)*2)',
      'gtid_subset(user(),1)',
    ],
    pass: ['extractvalue(xml)', 'floor(rand(5))', 'json_keys(doc)'],
  },
  {
    id: 'sqli-json-call',
    category,
    severity: 'high',
    message: 'A JSON function in an expression of SQL',
    score: 3,
    aggressive: 5,
    literals: words(`
      json_extract( json_depth( json_length( json_value( json_query( json_contains( jsonb_path_exists(
      json_array_length( json_valid( json_type(
    `),
    before: [expression],
    match: ["or json_extract('{}','$.a')=1", 'and json_depth(1)=1'],
    pass: ['json_extract(doc)', 'call json_value(x)'],
  },
  {
    id: 'sqli-schema-table',
    category,
    severity: 'high',
    message: 'Tables that describe a database, in a query',
    score: 4,
    aggressive: 5,
    literals: words(`
      information_schema sysobjects syscolumns sys.tables sys.databases sys.objects pg_catalog pg_tables
      pg_shadow pg_user sqlite_master sqlite_schema all_tables user_tables all_tab_columns user_tab_columns
      dba_users mysql.user mysql.db innodb_table_stats msysobjects v$version rdb$relations sysibm. syscat.
    `),
    before: [any('from', 'join', ','), run(' \t\n(`[', 1, 8), maybe(run('a-z_', 1, 20), '.', maybe('.'))],
    match: [
      'select x from information_schema.tables',
      'from(sqlite_master',
      'join pg_catalog.pg_class',
      'from master..sysobjects',
    ],
    pass: ['the information_schema explained', 'sqlite_master', 'pg_user role'],
  },
  {
    id: 'sqli-schema-name',
    category,
    severity: 'medium',
    message: 'The name of a table that describes a database',
    score: 2,
    aggressive: 3,
    literals: words(`
      information_schema. sqlite_master pg_catalog. sysobjects all_tab_columns mysql.user table_schema
      table_name column_name
    `),
    before: [edge],
    match: ['information_schema.columns', 'group_concat(table_name)', 'sysobjects'],
    pass: ['schema information', 'timetable_name', 'tables'],
  },
  {
    id: 'sqli-variable',
    category,
    severity: 'medium',
    message: 'A variable of the database server',
    score: 3,
    aggressive: 5,
    literals: words(`
      @@version @@hostname @@datadir @@global @@basedir @@servername @@language @@identity @@rowcount
      @@secure_file_priv @@spid
    `),
    match: ['select @@version', 'and @@datadir'],
    pass: ['@version', 'a@@b'],
  },
  {
    id: 'sqli-server-call',
    category,
    severity: 'medium',
    message: 'Version, user or name of the database asked for in an expression',
    score: 3,
    aggressive: 5,
    literals: words(`
      version() database() user() current_user session_user system_user schema() current_database() db_name(
      host_name( user_name( sqlite_version( last_insert_id(
    `),
    before: [any('select', 'concat(', 'and', 'or', ',', '=', '(', '||', 'union'), run(' ', 0, 4)],
    match: ['select version()', 'concat(user()', 'and database()', ',db_name('],
    pass: ['get version()', 'app.user()', 'the current_user is'],
  },
  {
    id: 'sqli-group-concat',
    category,
    severity: 'high',
    message: 'Rows put together into one value, as extraction does',
    score: 3,
    aggressive: 5,
    literals: words('group_concat( concat_ws( string_agg( array_agg( listagg( xmlagg( json_arrayagg('),
    after: [
      within(60, any('table_name', 'column_name', 'schema_name', 'password', 'user', '0x', 'login', 'char(')),
    ],
    match: ['group_concat(table_name,0x3a)', 'concat_ws(0x3a,user(),1)'],
    pass: ['GROUP_CONCAT(name)', 'string_agg(title)'],
  },
  {
    id: 'sqli-hex-concat',
    category,
    severity: 'medium',
    message: 'Text spelt in hexadecimal or character codes',
    score: 3,
    aggressive: 5,
    literals: ['concat(0x', 'concat(char(', 'chr(', 'char(', 'nchar(', 'unhex(', 'cast(0x', 'concat(chr('],
    after: [
      run('0-9a-f', 1, 12),
      within(
        24,
        any(
          ...words(')+char( )||chr( )+nchar( )+chr( )&chr( ,char( ,0x ,(select )) ,version ,user ,database'),
          ') as',
          ') + char(',
          ') || chr(',
          ', char(',
        ),
        '\n',
      ),
    ],
    match: ['concat(0x7e,0x41', 'char(65)+char(66)', 'chr(65)||chr(66)', 'cast(0x41) as'],
    pass: ['char(10)', 'concat(0xff)', 'varchar(20)'],
  },
  {
    id: 'sqli-file-access',
    category,
    severity,
    message: 'A file is read or written by the database',
    score: 5,
    literals: phrases(`
      load_file(, into outfile, into dumpfile, pg_read_file(, pg_ls_dir(, lo_import(, lo_export(,
      bulk insert, openrowset(, opendatasource(, utl_file., load_extension(, load data infile,
      load data local infile, pg_read_binary_file(, readfile(
    `),
    after: [
      space,
      any(quote, '0x', 'char(', 'fopen', 'chr(', 'concat(', 'select', 'bulk', '(', ['@']),
      run('^\n', 0, 1),
    ],
    match: ["load_file('/etc/passwd')", "into outfile '/tmp/x'", "openrowset('SQLOLEDB'", 'load_file(0x2f)'],
    pass: ['into outfile format', 'readfile(path)', 'bulk insert of rows'],
  },
  {
    id: 'sqli-server-procedure',
    category,
    severity,
    message: 'A stored procedure that reaches the operating system or runs text as a query',
    score: 5,
    literals: words(`
      xp_cmdshell xp_regread xp_regwrite xp_dirtree xp_fileexist xp_subdirs sp_oacreate sp_oamethod
      sp_executesql sp_addsrvrolemember sp_makewebtask sp_configure sp_password sp_execute_external_script
      dbms_java. dbms_scheduler. dbms_export_extension sys_exec( sys_eval( sp_sys_protoop fn_varbintohexstr
      dblink_connect utl_http. httpuritype(
    `),
    before: [any(run(' \t\n.;(\'"[,@=+', 1), border)],
    after: [any(gap, quote, '(', '@', ';', ']', 'request', 'run', '.', [space, border])],
    match: [
      "exec master..xp_cmdshell 'dir'",
      ';sp_executesql @q',
      "xp_dirtree '\\\\h\\s'",
      "utl_http.request('http://h')",
    ],
    pass: ['about_xp_cmdshell_docs', 'no xp here'],
  },
  {
    id: 'sqli-declare',
    category,
    severity: 'high',
    message: 'A variable declared and run as a query',
    score: 5,
    literals: ['declare'],
    after: [
      gap,
      '@',
      word,
      gap,
      maybe('as', gap),
      any('varchar', 'nvarchar', 'int', 'char', 'sysname', 'table', 'cursor'),
      within(80, any('exec', 'select', 'set', '0x', 'cast(')),
    ],
    match: ['declare @q varchar(99);set @q=0x41;exec(@q)', 'DECLARE @c varchar(255);SELECT @c=1'],
    pass: ['declare @media', 'I declare @home int'],
  },
  {
    id: 'sqli-command-program',
    category,
    severity,
    message: 'A program started by the database',
    score: 5,
    literals: phrases(`
      from program, to program, sys_exec, create extension, language plpythonu, language plperlu,
      language 'c'
    `),
    before: [within(80, any('copy', 'create', 'select', ';'))],
    after: [any(gap, quote, border, '(', ';')],
    match: ["copy t from program 'id'", 'create function f() as $$ $$ language plpythonu'],
    pass: ['download from program page', 'to program well'],
  },
  {
    id: 'sqli-insert-break',
    category,
    severity: 'high',
    message: 'A row of values closed and another one opened',
    score: 5,
    literals: ["'),(", "'), (", '"),(', "',(select", "','", "', '"],
    before: [border, run('^\'"', 0, 40)],
    after: [within(40, any(');--', ')--', ')#', ') --', ')-- ', '(select'), '\n')],
    match: ["x'),('a','b')-- ", "a', 'b');--"],
    pass: ["['a','b']", "'x', 'y'", "f('a', 'b')"],
  },
  {
    id: 'sqli-number-arithmetic',
    category,
    severity: 'low',
    message: 'A number with a subquery or function joined to it',
    score: 5,
    literals: ['-(', '+(', '*(', '/(', '||(', '^('],
    before: [any(numberSoFar, [border, run('0-9', 1, 10), quote])],
    after: [
      space,
      any('select', 'sleep', 'case', 'if(', 'ascii', 'version', 'user(', 'database', 'char('),
      not(run('a-z', 1)),
    ],
    match: ['1-(select 1)', "1'+(select 1)+'", '5*(case when 1=1 then 1 end)'],
    pass: ['1-(2+3)', '5*(x)', '3+(selected)'],
  },
  {
    id: 'sqli-like-probe',
    category,
    severity: 'medium',
    message: 'A comparison that takes anything, behind a closed string',
    score: 4,
    aggressive: 5,
    literals: ['like', 'rlike', 'regexp', 'glob'],
    before: [brokenOut, maybe(any('or', 'and'), gap, word, gap, maybe('not', gap))],
    after: [space, run('(', 0, 2), any("'%", '"%', "'_", "'.", "'^", "'a", '0x', "''", "'*")],
    match: ["' or x like '%", "1 or name rlike '.*", "' and y not like '%a"],
    pass: ["people's like '90s", "she's like 'what'"],
  },
]
