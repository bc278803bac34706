import { expect, test } from 'vitest'
import { HostTable } from './hosts.ts'

const table = new HostTable<string>()
for (const name of ['example.com', 'a.example.com', '*.example.com', '*.b.example.com', '*.com', '[::1]']) {
  table.add(name, name)
}

test.each([
  ['example.com', 'example.com'],
  ['a.example.com', 'a.example.com'],
  ['x.example.com', '*.example.com'],
  ['x.a.example.com', '*.example.com'],
  ['b.example.com', '*.example.com'],
  ['x.b.example.com', '*.b.example.com'],
  ['y.x.b.example.com', '*.b.example.com'],
  ['xexample.com', '*.com'],
  ['example.org', undefined],
  ['com', undefined],
  ['', undefined],
  ['[::1]', '[::1]'],
  ['constructor', undefined],
])('%s goes to %s', (host, site) => {
  expect(table.find(host)).toBe(site)
})

test('a name can be added once', () => {
  const names = new HostTable<number>()
  expect([names.add('a', 1), names.add('a', 2), names.add('*.a', 3), names.add('*.a', 4)]).toEqual([
    true,
    false,
    true,
    false,
  ])
  expect([names.size, names.find('a'), names.find('b.a')]).toEqual([2, 1, 3])
})
