/**
 * Words of SQL dialects with the class that the tokeniser gives them.
 *
 * The classes and their letters are those of libinjection (BSD-3-Clause); which word belongs to which class is a fact
 * about MySQL, PostgreSQL, SQL Server, Oracle, SQLite and Access.
 */

/** One letter for each class of token. */
export type TokenType = string

export const KEYWORD = 'k'
export const UNION = 'U'
export const GROUP = 'B'
export const EXPRESSION = 'E'
export const SQL_TYPE = 't'
export const FUNCTION = 'f'
export const BAREWORD = 'n'
export const NUMBER = '1'
export const VARIABLE = 'v'
export const STRING = 's'
export const OPERATOR = 'o'
export const LOGIC = '&'
export const COMMENT = 'c'
export const COLLATE = 'A'
export const STATEMENT = 'T'
export const UNKNOWN = '?'
export const EVIL = 'X'

const LISTS: Readonly<Record<TokenType, string>> = {
  [LOGIC]: 'and or xor',
  [COLLATE]: 'collate',
  [UNION]:
    'except intersect intersect_all minus union union_all union_all_distinct union_distinct union_distinct_all uni_on',
  [GROUP]: 'group_by having limit order_by own3d_by partition_by',
  [EXPRESSION]: `case create execute_as execute_as_login insert insert_delayed insert_high_priority insert_ignore
    insert_low_priority select select_all select_distinct set update waitfor_delay waitfor_receive waitfor_time replace_delayed
    replace_low_priority alter_index`,
  [NUMBER]: 'binary_double_infinity binary_double_nan binary_float_infinity binary_float_nan false true',
  [VARIABLE]: `current_date current_path current_schema current_server current_time current_timestamp current_timezone
    current_user current_degree current_function current_function_path localtime localtimestamp null 
    unknown user_guid rownum`,
  [OPERATOR]: `between div is is_distinct_from is_not is_not_distinct_from like mod not not_between not_like not_regexp
    not_rlike not_similar not_similar_to regexp rlike similar_to sounds_like uescape glob not_glob eqv imp`,
  [STATEMENT]: `begin begin_declare begin_goto begin_try begin_try_declare call create_or_replace declare delete drop drop_table exec
    execute go goto handler insert_delayed_into insert_high_priority_into insert_ignore_into insert_into
    insert_low_priority_into load_data load_xml print replace_into shutdown truncate use while commit rollback try`,
  [SQL_TYPE]: `anyarray anyelement anynonarry bigint bigserial binary boolean bytea character character_varying datetime
    decimal double double_precision float float4 float8 int int1 int2 int3 int4 int8 integer mediumint middleint money
    nchar numeric nvarchar oid real regclass regconfig regdictionary regoper regoperator regproc regprocedure regtype
    serial serial2 serial4 serial8 smallint smallmoney text timestamp tinyint varbinary varchar varcharacter void
    _armscii8 _ascii _big5 _binary _cp1250 _cp1251 _cp1257 _cp850 _cp852 _cp866 _cp932 _dec8 _eucjpms _euckr _gb2312 _gbk
    _geostd8 _greek _hebrew _hp8 _keybcs2 _koi8r _koi8u _latin1 _latin2 _latin5 _latin7 _macce _macroman _sjis _swe7
    _tis620 _ujis _ucs2 _utf16 _utf32 _utf8`,
  [BAREWORD]: `by check create_or cross database do dual for group in_boolean is_distinct is_not_distinct lock lock_in
    lock_in_share mode natural natural_full natural_inner natural_left natural_right next_value order outer password
    references right table trailing unique user user_id user_name waitfor with own3d`,
  [KEYWORD]: `alter match abort accessible against all_users analyze as asc asensitive before both bulk cascade change column condition
    constraint continue cross_join cursor databases day_hour day_microsecond day_minute day_second dec default delay
    delayed desc describe deterministic distinct distinctrow each else elseif enclosed escaped exit explain fetch for_update
    for_update_nowait for_update_of for_update_skip_locked for_update_wait force_index foreign from full_join full_outer
    full_outer_join fulltext function grant high_priority hour_microsecond hour_minute hour_second ignore in index infile
    in_boolean_mode inner inner_join inout insensitive interval into into_dumpfile into_outfile iterate join key keys
    key_column_usage kill leading leave left_join left_outer left_outer_join linear lines load lock_in_share_mode lock_table
    lock_tables long longblob longtext loop low_priority master_bind master_ssl_verify_server_cert maxvalue mediumblob
    mediumtext merge minute_microsecond minute_second modifies natural_full_outer_join natural_inner_join natural_join
    natural_left_join natural_left_outer_join natural_outer natural_right_join natural_right_outer_join next_value_for
    no_write_to_binlog not_in notnull nowait offset on one_shot optimize option optionally out outfile partition pragma
    precision primary procedure purge range read read_write reads release rename repeat replace require resignal restrict
    return revoke right_join right_outer right_outer_join schema schemas second_microsecond sensitive separator show signal
    similar spatial specific sql sql_big_result sql_buffer_result sql_cache sql_calc_found_rows sql_no_cache
    sql_small_result sqlexception sqlstate sqlwarning ssl starting straight_join terminated then time tinyblob tinytext
    top trigger undo unlock unsigned usage using_hash utc_date utc_time utc_timestamp values varying wait when where
    with_rollup xp_execresultset year_month zerofill all dumpfile current_of force isnull_ open close add`,
  [FUNCTION]: `abs acos adddate addtime aes_decrypt aes_encrypt age any app_name applock_mode applock_test array_agg array_cat
    array_dims array_fill array_length array_lower array_ndims array_prepend array_to_json array_to_string array_upper
    array_append asc_w ascii asin assemblyproperty asymkey_id atan atan2 avg benchmark bin binbinary bit_and bit_count
    bit_length bit_or bit_xor bool_and bool_or btrim cast cbool cbrt cbyte ccur cdate cdbl ceil ceiling cert_id
    certencoded certprivatekey changes char char_length character_length charindex charset chdir chdrive checksum_agg
    choose chr cint clng clock_timestamp coalesce coercibility col_length col_name collation collationproperty
    columnproperty columns_updated compress concat concat_ws connection_id conv convert convert_from convert_to convert_tz
    cos cot count count_big crc32 csng cstr ctxsys.drithsx.sn cume_dist curdate curdir currentuser current_database
    current_query current_schemas current_setting currval cursor_status curtime cvar cvdate database_principal_id
    databasepropertyex datalength date date_add date_format date_part date_sub date_trunc dateadd datediff datefromparts
    datename datepart dateserial datetime2fromparts datetimefromparts datetimeoffsetfromparts datevalue davg day dayname
    dayofmonth dayofweek dayofyear db_id db_name dbms_lock.sleep dbms_pipe.receive_message dbms_utility.sqlid_to_sqlhash
    dcount decode decryptbyasmkey decryptbycert decryptbykey decryptbykeyautocert decryptbypassphrase degrees dense_rank
    des_decrypt des_encrypt dfirst difference dlast dlookup dmax dmin dsum elt encode encrypt encryptbyasmkey encryptbycert
    encryptbykey encryptbypassphrase enum_first enum_last enum_range eomonth eventdata exists exp export_set extract
    extract_value extractvalue field file_id file_idex file_name filegroup_id filegroup_name filegroupproperty fileproperty
    filetoblob filetoclob find_in_set first_value floor fn_virtualfilestats format found_rows from_base64 from_days
    from_unixtime fulltextcatalogproperty fulltextserviceproperty generate_series generate_subscripts get_bit get_byte
    get_format get_lock getattr getdate getutcdate greatest group_concat grouping grouping_id has_perms_by_name hashbytes hex
    hex_to_int host_name hour ident_current ident_incr ident_seed identify if if_exists if_not if_not_exists iff ifnull iif
    index_col indexkey_property indexproperty inet_aton inet_ntoa inet_client_addr inet_server_addr initcap instr instrrev
    is_free_lock is_member is_objectsigned is_rolemember is_srvrolemember is_used_lock isdate isempty isfinite isnull
    isnumeric json_keys json_extract json_search json_value json_query julianday justify_days justify_hours
    justify_interval lag last_insert_id last_insert_rowid last_value lastval lcase lead least left length ln
    load_extension load_file locate log log10 log2 lower lower_inc lower_inf lpad ltrim make_set makeaclitem makedate
    masklen master_pos_wait max md5 microsecond mid min minute mkdir month monthname name_const netmask nextval now
    nth_value ntile nullif nz object_definition object_id object_name object_schema_name objectproperty objectpropertyex oct
    octet_length old_password opendatasource openquery openrowset openxml ord original_db_name original_login overlaps
    overlay parsename patindex pathindex percent_rank percentile_cont percentile_disc percentile_rank period_add period_diff
    permissions pg_advisory_lock pg_backend_pid pg_cancel_backend pg_client_encoding pg_conf_load_time pg_create_restore_point
    pg_has_role pg_is_in_recovery pg_is_other_temp_schema pg_listening_channels pg_ls_dir pg_my_temp_schema
    pg_postmaster_start_time pg_read_binary_file pg_read_file pg_reload_conf pg_rotate_logfile pg_sleep pg_start_backup
    pg_stat_file pg_stop_backup pg_switch_xlog pg_terminate_backend pg_trigger_depth pi position pow power
    procedure_analyse publishingservername pwdcompare pwdencrypt quarter quote quote_ident quote_literal quote_nullable
    quotename radians rand random randomblob rank regexp_instr regexp_matches regexp_replace regexp_split_to_array
    regexp_split_to_table regexp_substr release_lock replicate reverse round row row_count row_number row_to_json rpad rtrim
    schema_id schema_name scope_identity sec_to_time second serverproperty setattr setseed setval sha sha1 sha2 sign sin
    sleep smalldatetimefromparts sql_variant_property soundex space split_part sqlite_version sqrt statement_timestamp stats_date std
    stddev stddev_pop stddev_samp str str_to_date strcmp strconv some session_user sysdate system_user strftime string string_agg string_to_array strpos stuff
    subdate substr substring substring_index subtime sum suser_id suser_name suser_sid suser_sname switchoffet
    sysdatetime sysdatetimeoffset sys_context sysutcdatetime tan tertiary_weights textpos textptr textvalid time_format
    time_to_sec timediff timefromparts timeofday timeserial timestampadd timestampdiff timevalue to_ascii to_base64 to_char
    to_date to_days to_hex to_number to_seconds to_timestamp todatetimeoffset total total_changes transaction_timestamp
    translate trigger_nestlevel trim trunc try_cast try_convert try_parse type_id type_name typeof typeproperty ucase
    uncompress uncompress_length unhex unicode unix_timestamp unnest updatexml upper upper_inc upper_inf user_lock.sleep
    using utl_http.request utl_inaddr.get_host_address utl_inaddr.get_host_name uuid uuid_short var var_pop var_samp varp
    variance verifysignedbyasmkey verifysignedbycert version week weekday weekdayname weekofyear width_bucket xmlagg
    xmlcomment xmlconcat xmlelement xmlexists xmlforest xmlformat xmltype xpath xpath_exists xp_cmdshell year yearweek
    zeroblob hasdbaccess make_interval exp_ iserror nvl nvl2`,
}

/** Words whose underscore is no blank: all that are one word. */
const PHRASES = new Set(
  `intersect_all union_all union_all_distinct union_distinct union_distinct_all group_by order_by own3d_by partition_by
   execute_as execute_as_login insert_delayed insert_high_priority insert_ignore insert_low_priority select_all
   select_distinct waitfor_delay waitfor_receive waitfor_time replace_delayed replace_low_priority alter_index
   current_degree current_function current_function_path is_distinct_from is_not is_not_distinct_from not_between
   not_like not_regexp not_rlike not_similar not_similar_to similar_to sounds_like not_glob begin_goto begin_try
   begin_declare begin_try_declare create_or_replace drop_table insert_delayed_into insert_high_priority_into insert_ignore_into
   insert_into insert_low_priority_into load_data load_xml replace_into character_varying double_precision create_or in_boolean
   is_distinct is_not_distinct lock_in lock_in_share natural_full natural_inner natural_left natural_right next_value
   cross_join for_update for_update_nowait for_update_of for_update_skip_locked for_update_wait force_index full_join
   full_outer full_outer_join in_boolean_mode inner_join into_dumpfile into_outfile left_join left_outer
   left_outer_join lock_in_share_mode lock_table lock_tables natural_full_outer_join natural_inner_join natural_join
   natural_left_join natural_left_outer_join natural_outer natural_right_join natural_right_outer_join
   next_value_for not_in right_join right_outer right_outer_join with_rollup current_of if_exists if_not
   if_not_exists procedure_analyse`.split(/\s+/),
)

/** `current_date` and the like exist as one word and as two. */
const BOTH = new Set([
  'current_date',
  'current_path',
  'current_schema',
  'current_server',
  'current_time',
  'current_timestamp',
  'current_timezone',
])

const WORDS: ReadonlyMap<string, TokenType> = build()

function build(): Map<string, TokenType> {
  const words = new Map<string, TokenType>()
  for (const [type, list] of Object.entries(LISTS)) {
    for (const word of list.split(/\s+/)) {
      if (!PHRASES.has(word)) words.set(word, type)
      if (PHRASES.has(word) || BOTH.has(word)) words.set(word.replaceAll('_', ' '), type)
    }
  }
  // Their own underscore, next to a blank.
  for (const [phrase, type] of [
    ['insert high_priority', EXPRESSION],
    ['insert low_priority', EXPRESSION],
    ['replace low_priority', EXPRESSION],
    ['insert high_priority into', STATEMENT],
    ['insert low_priority into', STATEMENT],
  ] as const) {
    words.set(phrase, type)
  }
  return words
}

/** Class of a word or phrase, in any case; `undefined` for an ordinary word. */
export function wordType(word: string): TokenType | undefined {
  return WORDS.get(word.toLowerCase())
}

const OPERATORS: ReadonlyMap<string, TokenType> = new Map([
  ...[
    '!!',
    '!<',
    '!=',
    '!>',
    '%=',
    '&=',
    '*=',
    '+=',
    '-=',
    '/=',
    ':=',
    '::',
    '<<',
    '<=',
    '<>',
    '<@',
    '>=',
    '>>',
    '@>',
    '^=',
    '|/',
    '|=',
    '~*',
  ].map((text): [string, TokenType] => [text, OPERATOR]),
  ['&&', LOGIC],
  ['||', LOGIC],
])

/** Class of an operator of two characters. */
export function operatorType(text: string): TokenType | undefined {
  return OPERATORS.get(text)
}
