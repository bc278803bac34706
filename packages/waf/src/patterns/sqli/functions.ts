/** SQL injection: functions, variables, tables and procedures of database servers. */
import { brokenOut, oneArgument } from '../context.ts'
import type { Pattern } from '../pattern.ts'
import {
  any,
  border,
  digits,
  edge,
  gap,
  maybe,
  phrases,
  quote,
  run,
  space,
  within,
  words,
} from '../tokens.ts'

const category = 'sqli'
const severity = 'critical'
/** In front of a function: what makes it part of an expression of SQL. */
const expression = [
  any(...words('select and or xor when then else where having by in like if( || && , = (')),
  run(' \t\n(+!', 0, 8),
]

export const sqliFunctions: readonly Pattern[] = [
  {
    id: 'sqli-time-call',
    category,
    severity,
    message: 'A function that waits, in an expression of SQL',
    score: 5,
    literals: ['sleep(', 'pg_sleep(', 'benchmark(', 'randomblob(', 'sleep ('],
    before: [
      any(
        [any(...words('select xor when having like if( || && , = (')), run(' \t\n(+!', 0, 8)],
        [
          oneArgument,
          run(' +\t\n)', 1, 8),
          any('and', 'or', 'then', 'else', 'by', 'in'),
          run(' \t\n(+!', 0, 8),
        ],
        [within(80, ['when', edge]), gap, any('then', 'else'), run(' \t\n(', 1, 8)],
        [brokenOut, maybe(any('+', '-', '*', '/', '^', '%', '|'), space)],
        [border, space],
      ),
    ],
    after: [space, run(`'"-(`, 0, 2), any(digits, ['select', edge]), run('^\n', 0, 40), maybe(')')],
    match: [
      '1 and sleep(5)',
      'select pg_sleep(10)',
      "'+sleep(3)+'",
      'if(1=1,benchmark(1000000,md5(1)),0)',
      'sleep(10)',
    ],
    pass: ['time.sleep(5)', 'await sleep(ms)', 'benchmark (2020)', 'try again; or sleep(1) first'],
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
    after: [space, any(quote, '0x', 'char(', 'fopen', 'chr(', 'concat(', 'select', 'bulk', '(', ['@'])],
    before: [any(border, run('^a-z0-9_.', 1))],
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
      dbms_java. dbms_scheduler. dbms_export_extension sys_exec( sys_eval( fn_varbintohexstr
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
]
