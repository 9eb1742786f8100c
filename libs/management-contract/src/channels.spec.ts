import { GatewayError, parseInput } from '@dormouse/gateway-contract';
import { createChannelBody, listChannelsQuery } from './channels.js';

const refusal = (work: () => unknown): string | undefined => {
  try {
    work();
    return undefined;
  } catch (error) {
    return error instanceof GatewayError ? error.details : String(error);
  }
};

describe('createChannelBody', () => {
  it('takes a name alone, trimmed, and ignores what it does not know', () => {
    expect(parseInput(createChannelBody, { name: ' Shop ', colour: 'red', region: null })).toEqual({ name: 'Shop' });
  });

  it.each([
    [{}, 'name: required'],
    [{ name: '  ' }, 'name: must not be empty'],
    [{ name: 'x'.repeat(101) }, 'name: must have at most 100 characters'],
    [{ name: 'Shop', region: 'mars' }, 'region: must be one of sg, use, usw, eu'],
  ])('refuses %j, naming the field', (body, details) => {
    expect(refusal(() => parseInput(createChannelBody, body))).toBe(details);
  });
});

describe('listChannelsQuery', () => {
  it('starts at the first hundred', () => {
    expect(parseInput(listChannelsQuery, {})).toEqual({ count: 100, offset: 0 });
    expect(parseInput(listChannelsQuery, { count: '500', offset: '20' })).toEqual({ count: 500, offset: 20 });
  });

  it.each([
    [{ count: '0' }, 'count: must be between 1 and 500'],
    [{ count: 'all' }, 'count: must be a whole number'],
    [{ offset: '-1' }, 'offset: must be a whole number'],
  ])('refuses %j, naming the field', (query, details) => {
    expect(refusal(() => parseInput(listChannelsQuery, query))).toBe(details);
  });
});
