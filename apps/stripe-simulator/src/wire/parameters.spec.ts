import { z } from 'zod';
import { parseForm } from './form.js';
import {
  flag,
  integer,
  list,
  mergeMetadata,
  metadata,
  moments,
  parameters,
  readParameters,
  removable,
  text,
  within,
} from './parameters.js';

const schema = parameters({
  name: text,
  count: integer.optional(),
  isGood: flag.optional(),
  kind: z.enum(['one', 'two']).optional(),
  items: list(z.strictObject({ price: text, quantity: integer.optional() })).optional(),
  metadata: metadata.optional(),
  created: moments.optional(),
  note: removable(text).optional(),
});

const read = (body: string) => readParameters(schema, parseForm(body));

describe('parameters', () => {
  it('are read into numbers, flags, lists and parts', () => {
    expect(
      read('name=a&count=-3&isGood=true&items[0][price]=p&items[0][quantity]=2&created[gte]=5&note=&expand[]=x'),
    ).toEqual({
      ...{ name: 'a', count: -3, isGood: true, items: [{ price: 'p', quantity: 2 }], created: { gte: 5 }, note: null },
      expand: ['x'],
    });
  });

  it.each([
    ['name=a&foo=1', 'Received unknown parameter: foo', 'foo', 'parameter_unknown'],
    ['name=a&foo=1&bar=2', 'Received unknown parameters: foo, bar', 'foo', 'parameter_unknown'],
    [
      'name=a&items[0][price]=p&items[0][plan]=x',
      'Received unknown parameter: items[0][plan]',
      'items[0][plan]',
      'parameter_unknown',
    ],
    ['name=a&created[after]=5', 'Received unknown parameter: created[after]', 'created[after]', 'parameter_unknown'],
    ['count=1', 'Missing required param: name.', 'name', 'parameter_missing'],
    ['name=a&items[0][quantity]=1', 'Missing required param: items[0][price].', 'items[0][price]', 'parameter_missing'],
    ['name=a&count=1.5', 'Invalid integer: 1.5', 'count', 'parameter_invalid_integer'],
    ['name=a&isGood=yes', 'Invalid boolean: yes', 'isGood', undefined],
    ['name=a&kind=three', 'Invalid kind: must be one of one, two', 'kind', undefined],
    ['name[x]=a', 'Invalid string', 'name', undefined],
    ['name=a&items=x', 'Invalid array', 'items', undefined],
    ['name=a&created=soon', 'Invalid integer: soon', 'created', 'parameter_invalid_integer'],
  ])('%s is refused in the words of the API', (body, message, param, code) => {
    expect(() => read(body)).toThrow(expect.objectContaining({ status: 400, message }));
    try {
      read(body);
    } catch (error) {
      expect(error).toMatchObject({ details: { param, ...(code !== undefined && { code }) } });
    }
  });

  it('metadata is added to, replaced, removed by key and emptied', () => {
    const merged = (body: string) => mergeMetadata({ a: '1', b: '2' }, read(`name=x&${body}`).metadata);
    expect(merged('metadata[b]=3&metadata[c]=4')).toEqual({ a: '1', b: '3', c: '4' });
    expect(merged('metadata[a]=')).toEqual({ b: '2' });
    expect(merged('metadata=')).toEqual({});
    expect(merged('')).toEqual({ a: '1', b: '2' });
  });

  it('moments bound a time from both sides', () => {
    expect([4, 5, 6, 7].map((moment) => within({ gt: 4, lte: 6 }, moment))).toEqual([false, true, true, false]);
    expect([within(5, 5), within(5, 6), within(undefined, 1)]).toEqual([true, false, true]);
  });
});
