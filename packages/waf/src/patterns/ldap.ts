/** Filters of LDAP and paths of XPath. */
import { brokenQuote } from './context.ts'
import type { Pattern } from './pattern.ts'
import { any, border, letters, maybe, run, space, type Token, within, words } from './tokens.ts'

const attribute: Token = run('a-z0-9;-', 1, 40)

export const ldap: readonly Pattern[] = [
  {
    id: 'ldap-filter-broken-out',
    category: 'ldap',
    severity: 'high',
    message: 'A filter of LDAP is closed and another opened',
    score: 5,
    literals: [')(', '))(', '*)(', ')) (', ') (', '*))', '*)&', '*)|'],
    before: [border, run('^(\n=', 0, 40)],
    after: [
      run(' &|!(*', 0, 6),
      any([attribute, any('=', '>=', '<=', '~=', ':')], [border], ['%00'], [')', border], ['|', attribute]),
    ],
    match: ['*)(uid=*', 'admin)(&)', '*))(|(cn=*', 'x)(!(a=b)', '*))'],
    pass: ['f(x)(y)', 'see (a) (b)', '5) (see 4)'],
  },
  {
    id: 'ldap-filter',
    category: 'ldap',
    severity: 'high',
    message: 'The value is a filter of LDAP',
    score: 5,
    literals: ['(&(', '(|(', '(!(', '(&  (', '(| (', '(& ('],
    before: [any([border, run('*()\\a-z0-9 ', 0, 16)], '(', ')', '*')],
    after: [run('&|!( ', 0, 8), attribute, any('=', '>=', '<=', '~=', ':')],
    match: ['(&(uid=admin)(x=y))', '*(|(objectclass=*))', '(!(a=b))'],
    pass: ['if (!(a - b))', '(&(x', 'a (|( b'],
  },
  {
    id: 'ldap-present-filter',
    category: 'ldap',
    severity: 'high',
    message: 'A filter that every entry fits',
    score: 5,
    literals: words(
      'objectclass= uid=* cn=* sn=* mail=* samaccountname= userpassword= givenname=* memberof=',
    ),
    before: [run('(', 1)],
    after: [any(')', '*', letters, border)],
    match: ['(objectClass=*)', '*)(uid=*)', '(cn=*'],
    pass: ['objectclass=x', 'cn=*'],
  },
  {
    id: 'ldap-matching-rule',
    category: 'ldap',
    severity: 'high',
    message: 'An extensible match with the number of a rule (RFC 4515)',
    score: 5,
    literals: [':='],
    before: [attribute, maybe(':dn'), ':', run('0-9.', 5, 40)],
    after: [run('^\n', 1)],
    match: ['cn:1.2.3.4:=x', 'uid:dn:2.5.13.2:=a'],
    pass: ['a := b', 'at 1.2:=x', 'x:5:=y'],
  },
  {
    id: 'ldap-wildcard-null',
    category: 'ldap',
    severity: 'medium',
    message: 'A wildcard that cuts a filter short',
    score: 5,
    literals: ['*)\0', '*))\0', '*)%00', '*))%00', '\\2a)', '\\29(', ')(|(', ')(&('],
    before: [border, run('^(\n ', 0, 32)],
    match: ['*)\0', 'admin*))%00', 'x)(|(a'],
    pass: ['a * b) c', '(x)(|y)'],
  },
  {
    id: 'ldap-xpath',
    category: 'ldap',
    severity: 'high',
    message: 'A path or function of XPath behind a closed string',
    score: 5,
    literals: words(`
      //user //* /descendant child:: parent:: ancestor:: following:: count(/ name(/ string-length(
      substring(/ doc( text() node() position()= local-name(
    `),
    before: [
      any(
        [brokenQuote, maybe(any('or', 'and', '|', ']'), space)],
        [border, run('\'"\\]|)*', 1, 8), space],
        [within(40, any("'", '"', ']'), '\n'), any(' or ', ' and ', '|', '] | ')],
      ),
    ],
    after: [any(border, run('^a-z0-9_', 1), letters)],
    match: [
      "' or count(//user)=1",
      "'] | //user/*[contains(*,'",
      "x' or string-length(a)=1",
      "' or name(/*)='a",
    ],
    pass: ['https://users.example', 'text() in XPath', 'http://user'],
  },
  {
    id: 'ldap-characters',
    category: 'ldap',
    severity: 'medium',
    message: 'The special characters of LDAP one after the other: a probe',
    score: 5,
    literals: ['*()|', '*()&', '*)(|', '*)(&', '()|&', '|(*'],
    match: ["*()|&'", '*)(|'],
    pass: ['f(*args)', '(a) | (b)'],
  },
]
