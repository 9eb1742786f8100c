import { readSearchQuery } from './search-query.js';

const record = { email: 'Owner@Example.com', name: null, metadata: { account: '7', note: "it's AND fine" } };
const finds = (query: string): boolean => readSearchQuery(query, ['email', 'name'])(record);

describe('search', () => {
  it.each([
    ["metadata['account']:'7'", true],
    ['metadata["account"]:"8"', false],
    ["email:'owner@example.com' AND metadata['account']:'7'", true],
    ["email~'EXAMPLE'", true],
    ["-metadata['account']:'8'", true],
    ["name:null AND -metadata['gone']:'x'", true],
    ["metadata['note']:'it\\'s AND fine'", true],
  ])('%s', (query, isFound) => {
    expect(finds(query)).toBe(isFound);
  });

  it.each(["metadata:'7'", 'email=a', "phone:'1'", "email:'a' OR name:'b'", ''])('refuses %s', (query) => {
    expect(() => finds(query)).toThrow(expect.objectContaining({ status: 400 }));
  });
});
