import { parameterName, parseForm } from './form.js';

describe('form bodies', () => {
  it('are read with parts, numbered and unnumbered lists, and characters of any language', () => {
    const read = parseForm('a=1&items[0][price]=p%201&items[0][quantity]=2&expand[]=x&expand[]=y.z&name=M%C3%BCnchen');
    expect(JSON.parse(JSON.stringify(read))).toEqual({
      ...{ a: '1', items: { 0: { price: 'p 1', quantity: '2' } }, expand: { 0: 'x', 1: 'y.z' }, name: 'München' },
    });
  });

  it.each(['a]=1', '[a]=1', 'a[b=1', 'a[b]c=1', 'a=1&a[b]=2', 'a[b]=2&a=1', 'a[b][c][d][e][f][g][h][i]=1'])(
    'such as %s are refused',
    (body) => {
      expect(() => parseForm(body)).toThrow(expect.objectContaining({ status: 400, type: 'invalid_request_error' }));
    },
  );

  it('cannot reach the prototype of objects', () => {
    const read = parseForm('__proto__[polluted]=yes&constructor[prototype][polluted]=yes');
    expect(Object.keys(read)).toEqual(['__proto__', 'constructor']);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  it('name a place the way clients write it', () => {
    expect(parameterName(['items', 0, 'price'])).toBe('items[0][price]');
  });
});
