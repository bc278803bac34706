/** Serialised objects that act when they are read. */
import type { Pattern } from './pattern.ts'
import { any, border, letters, maybe, phrases, quote, run, space, words } from './tokens.ts'

export const deserialisation: readonly Pattern[] = [
  {
    id: 'deserialisation-java-stream',
    category: 'deserialisation',
    severity: 'critical',
    message: 'A serialised Java object',
    score: 5,
    literals: ['rO0AB', '\xac\xed\x00\x05', 'aced0005', 'H4sIAAAAAAAAAJ', 'KztAAU'],
    before: [any(border, run('^a-z0-9+/', 1))],
    after: [run('^ \n', 4)],
    match: ['rO0ABXNyABFq', '\xac\xed\x00\x05sr\x00\x11', 'aced00057372'],
    pass: ['xrO0AB', 'rO0AB', 'faced00057'],
  },
  {
    id: 'deserialisation-java-class',
    category: 'deserialisation',
    severity: 'critical',
    message: 'A class that gadget chains for Java use',
    score: 5,
    literals: words(`
      org.apache.commons.collections commons.beanutils com.sun.org.apache.xalan
      com.sun.rowset.jdbcrowsetimpl javax.management.badattribute sun.reflect.annotation
      org.springframework.beans.factory java.util.priorityqueue ysoserial com.mchange.v2.c3p0
      org.codehaus.groovy.runtime javax.naming.initialcontext org.apache.xbean com.sun.jndi org.hibernate.
      bcel.util.classloader $$bcel$$ java.net.urlclassloader ch.qos.logback.core.db
      org.apache.ibatis.datasource invokertransformer templatesimpl java.beans.eventhandler
      org.springframework.context.support
    `),
    before: [any(border, run('"\'> :@[{=;!(,\0-\x1f', 1))],
    after: [run('^ \n', 1)],
    match: [
      '"com.sun.rowset.JdbcRowSetImpl"',
      '!!javax.naming.InitialContext[]',
      '>java.util.PriorityQueue<',
      '$$BCEL$$x',
    ],
    pass: ['see ysoserial', 'at my.com.sun.jndi', 'import x'],
  },
  {
    id: 'deserialisation-json-type',
    category: 'deserialisation',
    severity: 'high',
    message: 'The type of an object named in JSON',
    score: 5,
    literals: words(`
      "@type" "$type" "@class" "__type" "javaclass" "java/object" '$type' "_type" "py/object" "py/reduce"
      "json_class" "^o"
    `),
    after: [space, ':', space, quote, run('a-z0-9_', 1, 40), any('.', '/'), run('a-z', 1)],
    match: [
      '{"@type":"com.sun.x.Y"}',
      '{"$type":"System.Windows.Data.ObjectDataProvider, PresentationFramework"}',
      '{"py/object":"os.system"}',
    ],
    pass: ['{"@type":"Person"}', '"$type": 5'],
  },
  {
    id: 'deserialisation-type-value',
    category: 'deserialisation',
    severity: 'high',
    message: 'The value is the name of a class that gadgets use',
    score: 5,
    literals: words(`
      System.Windows.Data.ObjectDataProvider System.Diagnostics.Process System.Configuration.Install
      System.Security.Claims System.Windows.Forms. System.Management.Automation Microsoft.VisualStudio.
      System.Data.Services.Internal WindowsIdentity ObjectStateFormatter LosFormatter BinaryFormatter
      SoapFormatter NetDataContractSerializer PSObject System.IO.FileInfo System.Web.Security.
      ExpandedWrapper
    `),
    before: [any(border, run(`"'<> :=,`, 1))],
    after: [any(border, ',', quote, '.', 'PSObject', '[', '`', letters)],
    match: [
      'System.Windows.Data.ObjectDataProvider, PresentationFramework',
      '<ObjectDataProvider x="System.Diagnostics.Process"',
    ],
    pass: ['the System.IO namespace', 'myBinaryFormatter'],
  },
  {
    id: 'deserialisation-dotnet-stream',
    category: 'deserialisation',
    severity: 'critical',
    message: 'A serialised object of .NET',
    score: 5,
    literals: [
      'AAEAAAD/////',
      'AAEAAAD%2f',
      '\x00\x01\x00\x00\x00\xff\xff\xff\xff',
      'AAEAAAD_____',
      '/wEyx',
      '/wEy',
    ],
    before: [any(border, run('^a-z0-9+', 1))],
    after: [any(run('a-z0-9+/=_-', 8), run('\0-\xff', 4))],
    match: ['AAEAAAD/////AQAAAAAAAAAM', '/wEyxBEAAQAAAP'],
    pass: ['AAEAAAD/////', 'xAAEAAAD/////AQAAAAAA'],
  },
  {
    id: 'deserialisation-php-object',
    category: 'deserialisation',
    severity: 'critical',
    message: 'A serialised PHP object',
    score: 5,
    literals: ['O:', 'C:'],
    before: [any(border, run(';{":= \'|', 1))],
    after: [
      maybe('+'),
      run('0-9', 1, 4),
      ':',
      quote,
      run('a-z0-9_\\', 1, 80),
      quote,
      ':',
      run('0-9', 1, 6),
      ':',
      '{',
    ],
    match: [
      'O:8:"stdClass":1:{s:1:"a";i:1;}',
      'x|O:4:"Evil":0:{}',
      'a:1:{i:0;O:1:"A":0:{}}',
      'C:11:"ArrayObject":1:{x}',
    ],
    pass: ['O:8', 'ratio:8:"x"', 'C:11:x'],
  },
  {
    id: 'deserialisation-php-array',
    category: 'deserialisation',
    severity: 'medium',
    message: 'A serialised PHP array',
    score: 2,
    aggressive: 4,
    literals: ['a:'],
    before: [any(border, run(';{"= |', 1))],
    after: [run('0-9', 1, 6), ':{', any('i:', 's:', 'O:', '}')],
    match: ['a:1:{i:0;s:1:"x";}', 'a:2:{s:1:"a"'],
    pass: ['a:1', 'data:1:{i'],
  },
  {
    id: 'deserialisation-pickle',
    category: 'deserialisation',
    severity: 'critical',
    message: 'A pickled Python object that calls a function',
    score: 5,
    literals: [
      'cos\nsystem',
      'cposix\nsystem',
      'c__builtin__\n',
      'cbuiltins\n',
      'csubprocess\n',
      'cnt\nsystem',
      'c__main__\n',
      '\x80\x04\x95',
      '\x80\x03c',
      '\x80\x02c',
      // A module by its name, in base64.
      'gANjcG9zaXgK',
      'gANjb3MK',
      'gANjX19idWlsdGlu',
      'gANjYnVpbHRpbnMK',
      'gANjc3VicHJvY2Vzc',
      'Y29zCnN5c3RlbQ',
      'Y3Bvc2l4CnN5c3RlbQ',
      '\x8c\x05posix\x94',
      'ccopy_reg\n',
    ],
    before: [any(border, run('^a-z0-9+/', 1))],
    after: [run('^ \n', 0, 1), any(run('\0-\xff', 4))],
    match: ["cos\nsystem\n(S'id'\ntR.", '\x80\x03cposix\nsystem', 'gANjcG9zaXgKc3lzdGVt'],
    pass: ['macos\nsystems', '<gandalf@example.org>', 'Gangnam Style'],
  },
  {
    id: 'deserialisation-pickle-frame',
    category: 'deserialisation',
    severity: 'critical',
    message: 'A pickled Python object in base64: the head of its first frame, shorter than 64 KiB',
    score: 5,
    // Case does not count in a literal: the zeros of the length tell it from words.
    literals: ['gASV'],
    before: [any(border, run('^a-z0-9+/', 1))],
    after: [run('a-z0-9+/', 2, 3), 'AAAAAA'],
    match: ['gASVIAAAAAAAAACMBXBvc2l4'],
    pass: ['gASV', 'Gasverbrauch im Winter', 'organgASVIAAAAAAAAACM'],
  },
  {
    id: 'deserialisation-yaml-tag',
    category: 'deserialisation',
    severity: 'critical',
    message: 'A tag of YAML that makes an object of any class',
    score: 5,
    literals: words(`
      !!python/ !!java !!ruby !ruby/ !!com. !!org. !!javax. !!sun. !php/object !!perl/ !!js/function !<tag:
      tag:yaml.org,2002:python !!net.
    `),
    after: [run('^\n', 1)],
    match: [
      "!!python/object/apply:os.system ['id']",
      '!ruby/object:Gem::Installer',
      '!!javax.script.ScriptEngineManager [',
      "!!js/function 'x'",
    ],
    pass: ['wow!! java', '!!str x', '!!!'],
  },
  {
    id: 'deserialisation-node-function',
    category: 'deserialisation',
    severity: 'critical',
    message: 'A function in serialised Node data that runs when it is read',
    score: 5,
    literals: ['_$$ND_FUNC$$_', '$$ND_CC$$', '__js_function', '{"__js_function"', '_$$nd_func$$_function'],
    match: ['{"x":"_$$ND_FUNC$$_function(){return 1}()"}'],
    pass: ['ND_FUNC', 'js_function'],
  },
  {
    id: 'deserialisation-java-xml',
    category: 'deserialisation',
    severity: 'critical',
    message: 'XML from which Java makes objects',
    score: 5,
    literals: phrases(`
      java.beans.xmldecoder, <object class="java, <object class='java, <void method=, <void class=,
      <sorted-set, <dynamic-proxy, class="java.lang.processbuilder, <java version=, <tree-map,
      <linked-hash-set, <jdk.nashorn, <string>/bin/, <java.util.PriorityQueue, <java.lang., <entry><jdk,
      <objectdataprovider, <resourcedictionary
    `),
    after: [any(run('^\n', 1), border)],
    match: [
      '<java version="1.8" class="java.beans.XMLDecoder">',
      '<void class="java.lang.ProcessBuilder">',
      '<sorted-set><dynamic-proxy>',
    ],
    pass: ['<object class="card">', '<void>', '<java>'],
  },
  {
    id: 'deserialisation-ruby-marshal',
    category: 'deserialisation',
    severity: 'high',
    message: 'A serialised Ruby object',
    score: 5,
    literals: [
      '\x04\x08o:',
      '\x04\x08[',
      '\x04\x08{',
      '\x04\x08c',
      '\x04\x08U:',
      'BAhv',
      'BAhVOg',
      'BAhbCG',
      '\x04\x08I"',
    ],
    before: [any(border, run('^a-z0-9+/', 1))],
    after: [run('^ \n', 6)],
    match: ['\x04\x08o:\x15Gem::Requirement', 'BAhvOhVHZW06OlJlcXVpcmVtZW50'],
    pass: ['BAhv', 'xBAhvabcdefgh'],
  },
]
