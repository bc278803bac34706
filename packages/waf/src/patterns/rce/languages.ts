/** Command injection: code of Node, Python, Java, Ruby, Perl, .NET and others. */
import type { Pattern } from '../pattern.ts'
import { any, border, gap, phrases, quote, run, space, within, words } from '../tokens.ts'

const category = 'rce'
const severity = 'critical'
const WHITE = ' \t\n\r\v\f'

export const rceLanguages: readonly Pattern[] = [
  {
    id: 'rce-node-module',
    category,
    severity,
    message: 'A module of Node that reaches processes or files',
    score: 5,
    literals: [
      "require('child_process",
      'require("child_process',
      'require(`child_process',
      'process.mainModule',
      'process.binding(',
      'global.process',
      'child_process.exec',
      '.execSync(',
      '.spawnSync(',
      'process.env',
      'process.exit(',
      'process.kill(',
      "require('vm')",
      'module.constructor',
      'globalThis.process',
      "import('child_process",
      'getBuiltinModule(',
    ],
    after: [
      any(
        [
          within(
            80,
            any(
              ...words('exec spawn .require readFile readdir load writeFile fork get( .cwd runIn request('),
            ),
          ),
        ],
        [quote, any('id', 'ls', 'cat', 'whoami', 'curl', 'ping', 'nc', 'bash', 'touch', 'sleep')],
        [run('^a-z', 0, 4), border],
      ),
    ],
    match: [
      "require('child_process').exec('id')",
      "global.process.mainModule.require('x')",
      'process.env',
      "x.execSync('id')",
    ],
    pass: ["const fs = require('fs')\nmodule", 'use process.env.PORT here', 'child_process'],
  },
  {
    id: 'rce-node-exit',
    category,
    severity: 'high',
    message: 'Code that ends or stops a Node process, behind a statement that is closed',
    score: 5,
    literals: words(`
      process.exit( process.kill( process.abort( while(true) while(1) for(;;) res.end( response.end(
      res.send(
    `),
    before: [border, run(`^${WHITE}`, 0, 40)],
    match: ['process.exit()', '1;while(1){}', "a';res.end('x')"],
    pass: ['call process.exit()', 'a loop while(true)'],
  },
  {
    id: 'rce-python-import',
    category,
    severity,
    message: 'Python code that reaches the system',
    score: 5,
    literals: words(`
      __import__( __builtins__ __subclasses__ __globals__ __mro__ __bases__ os.system( os.popen( subprocess.
      importlib.import_module( eval(compile( exec(compile( pickle.loads( commands.getoutput( __loader__
      __getattribute__ getattr(__import builtins.exec sys.modules[
    `),
    before: [any(border, run('^a-z0-9', 1))],
    after: [
      any(quote, '(', '[', '.', 'popen', 'call', 'check_output', 'run(', 'Popen', ')', '|', gap, border),
    ],
    match: [
      "__import__('os').system('id')",
      "''.__class__.__mro__[1].__subclasses__()",
      "os.popen('id').read()",
      "subprocess.check_output('id')",
    ],
    pass: ['import os', 'a subprocess', 'the subprocess.py file'],
  },
  {
    id: 'rce-python-statement',
    category,
    severity,
    message: 'A statement of Python that imports a module and uses it',
    score: 3,
    aggressive: 5,
    literals: ['import'],
    before: [any(border, run(`${WHITE};'"`, 1))],
    after: [
      gap,
      any('os', 'subprocess', 'pty', 'socket', 'sys', 'commands', 'urllib', 'requests', 'base64'),
      space,
      any(';', ',', '\n'),
      within(80, any('system', 'popen', 'spawn', 'exec', 'socket', 'call(', 'urlopen')),
    ],
    match: ["import os;os.system('id')", 'import socket,subprocess;s=socket.socket()'],
    pass: ['import os', 'import sys; print(1)'],
  },
  {
    id: 'rce-java-runtime',
    category,
    severity,
    message: 'Java code that starts a process or loads a class',
    score: 5,
    literals: words(`
      Runtime.getRuntime getRuntime() java.lang.Runtime ProcessBuilder( java.lang.ProcessBuilder ProcessImpl
      UNIXProcess getMethod( Class.forName( ScriptEngineManager ClassLoader java.io.File getDeclaredMethod
      java.lang.System javax.script. getClass().forName
    `),
    before: [any(border, run('^a-z0-9_', 1))],
    after: [
      any(
        [
          within(
            60,
            any(
              ...words(`
              .exec start( exec( getMethod invoke getenv getProperty newInstance (' (" resources loadClass
              eval( defineClass @
            `),
            ),
          ),
        ],
        [')', border],
      ),
    ],
    match: [
      "Runtime.getRuntime().exec('id')",
      "new java.lang.ProcessBuilder('id').start()",
      "''.getClass().forName('java.lang.Runtime')",
      'class.module.classLoader.resources.context',
    ],
    pass: ['java.lang.Runtime', 'the ClassLoader design', 'at java.lang.System'],
  },
  {
    id: 'rce-spring-binding',
    category,
    severity,
    message: 'A property of the class loader set through data binding (CVE-2022-22965)',
    score: 5,
    literals: [
      'class.module.classloader',
      'class.classloader',
      'class.protectiondomain',
      "class['classloader']",
      'class["classloader"]',
    ],
    match: ['class.module.classLoader.resources', 'class.classLoader.URLs[0]'],
    pass: ['class.loader', 'the module classloader'],
  },
  {
    id: 'rce-ognl',
    category,
    severity,
    message: 'An expression of OGNL, MVEL or SpEL that reaches the system',
    score: 5,
    literals: [
      '#_memberaccess',
      '@ognl.',
      '#context[',
      '#cmd=',
      '#request[',
      '#application',
      '#attr[',
      '#rt=',
      '#a=',
      '#process',
      '@java.lang.',
      '#parameters.',
      '#_classresolver',
      '#ognlutil',
      '#iswin',
      '#ros=',
      'xwork.methodaccessor',
      'allowstaticmethodaccess',
      '#container=',
      'com.opensymphony.xwork2',
      '@org.apache',
      'new java.',
      'T(java.',
      'T(org.',
      'T (java.',
      'redirect:${',
      'redirect:%{',
      'action:%{',
      'redirectaction:',
    ],
    before: [any(border, run('^a-z0-9_', 1))],
    after: [any(within(100, any('@', '(', '=', '{', '*', '+', '}')), [run('^\n', 0, 1), border])],
    match: [
      "%{(#_memberAccess['x']=1)}",
      '${#rt=@java.lang.Runtime@getRuntime()}',
      'T(java.lang.Runtime).getRuntime()',
      'redirect:${1+1}',
    ],
    pass: ['a process', 'a new java class', '#application form'],
  },
  {
    id: 'rce-ruby-perl',
    category,
    severity,
    message: 'Code of Ruby or Perl that runs commands or opens pipes',
    score: 5,
    literals: phrases(`
      %x(, %x[, %x{, Kernel.exec, Kernel.system, IO.popen, Open3., Process.spawn, File.read(, Dir.entries,
      instance_eval, class_eval, open("|, open('|, use IO::, File.open(
    `),
    before: [any(border, run('^a-z0-9_', 1))],
    after: [space, any(quote, '(', '|', run('a-z/', 1), '`')],
    match: ['%x(id)', "IO.popen('id')", "File.read('/etc/passwd')"],
    pass: ['100%x', 'Open3. ', 'File.read'],
  },
  {
    id: 'rce-dotnet',
    category,
    severity,
    message: 'Code of .NET or ASP that starts a process',
    score: 5,
    literals: [
      'System.Diagnostics.Process',
      'Process.Start(',
      'CreateObject("WScript',
      'WScript.Shell',
      'Server.CreateObject(',
      'Response.Write(',
      'execute(request',
      'eval(request',
      'eval request',
      'execute request',
      '<%eval',
      '<%execute',
      '<%@ page',
      '<%@page',
      '<% ',
      '<%',
      '<%!',
    ],
    after: [
      within(
        60,
        any(
          ...words(
            '.start start( .exec exec( .shell run request( runtime( import= response. out.print( eval(request new-object getruntime System. java. 9*9 "cmd',
          ),
        ),
        '\n',
      ),
    ],
    match: [
      '<%eval request("x")%>',
      'System.Diagnostics.Process.Start("cmd")',
      'CreateObject("WScript.Shell").Run',
      '<%@ page import="java.io.*" %>',
      'Response.Write(9*9)',
      '<% out.print(1) %>',
    ],
    pass: ['Process.Start', 'response write', '<% x'],
  },
  {
    id: 'rce-lua-other',
    category,
    severity: 'high',
    message: 'Code of Lua, Go, Groovy or Erlang that runs commands',
    score: 5,
    literals: words(`
      os.execute( io.popen( ".execute() '.execute() exec.Command( :os.cmd( os:cmd( Sys.command shell_exec
      loadstring( dofile(
    `),
    after: [within(40, any(quote, '.text', ')', '['), '\n')],
    match: ["os.execute('id')", '"id".execute().text', "os:cmd('id')"],
    pass: ['os.execute docs', 'io.popen'],
  },
  {
    id: 'rce-web-shell',
    category,
    severity,
    message: 'The name of a web shell, or its parameters',
    score: 5,
    literals: phrases(`
      c99.php, r57.php, wso.php, b374k, weevely, shell.php, cmd.php, cmd.jsp, cmd.asp, shell.jsp, shell.asp,
      webshell, antsword, behinder, godzilla.jsp, china chopper, simple-backdoor.php, php-backdoor, jspspy,
      aspxspy, alfa.php, filesman
    `),
    before: [any(border, run('/\\=', 1), [run('/a-z0-9_-', 0, 8), '/'])],
    after: [any(border, run('?&/#%;', 1), 'x')],
    match: ['/uploads/shell.php?cmd=id', 'c99.php', '/cmd.jsp'],
    pass: ['seashell.php', 'a webshell is', 'my shell.php file is'],
  },
  {
    id: 'rce-one-liner',
    category,
    severity,
    message: 'Code given to an interpreter on its command line',
    score: 5,
    literals: phrases(
      'perl -e, ruby -e, ruby -rsocket, python -c, python3 -c, php -r, node -e, lua -e, perl -mio',
    ),
    before: [any(border, [run(';|&`(/', 1), space], ['env', gap], ['sudo', gap])],
    after: [space, any(quote, '$', '{', '%')],
    match: ["perl -e 'x'", 'python -c "import os"'],
    pass: ['use perl -e for one-liners', 'python -c'],
  },
  {
    id: 'rce-node-files',
    category,
    severity,
    message: 'A file read or a request sent by code of Node, behind one argument',
    score: 5,
    literals: ["require('fs')", 'require("fs")', "require('http')", 'require("http")', 'require(`fs`)'],
    before: [border, run(`^${WHITE}`, 0, 40)],
    after: [
      '.',
      any(
        'readFile',
        'readdir',
        'writeFile',
        'exists',
        'get(',
        'request(',
        'promises',
        'unlink',
        'createRead',
      ),
    ],
    match: ["require('fs').readFileSync('/etc/passwd')", "x;require('http').get('http://h')"],
    pass: ["const fs = require('fs')", "var http = require('http')"],
  },
]
