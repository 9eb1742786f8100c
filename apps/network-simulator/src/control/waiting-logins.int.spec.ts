import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WaitingLogins } from './waiting-logins.js';

describe('logins that wait somewhere else', () => {
  let answer: { status: number; body: string };
  let server: Server;
  let address: string;

  beforeAll(async () => {
    server = createServer((_request, response) => response.writeHead(answer.status).end(answer.body));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a-secret-path`;
  });
  afterAll(() => server.close());

  it('are named, and give the code they show now', async () => {
    const logins = new WaitingLogins(address);
    answer = { status: 200, body: JSON.stringify([{ name: 'Shop', code: 'first' }]) };
    expect(await logins.names()).toEqual(['Shop']);
    answer = { status: 200, body: JSON.stringify([{ name: 'Shop', code: 'second' }]) };
    expect(await logins.codeOf('Shop')).toBe('second');
    await expect(logins.codeOf('Gone')).rejects.toMatchObject({ code: 404 });
  });

  it('are none when no address is known', async () => {
    expect(await new WaitingLogins(undefined).names()).toEqual([]);
  });

  it.each([
    [500, '[]'],
    [200, 'no JSON, with a secret-code in it'],
    [200, JSON.stringify([{ title: 'Shop', code: 'secret-code' }])],
  ])('an answer that is no such list (%i %s) is refused without a word of it', async (status, body) => {
    answer = { status, body };
    const failure = (await new WaitingLogins(address).names().catch((error: unknown) => error)) as { text: string };
    expect(failure).toMatchObject({ code: 502 });
    expect(failure.text).not.toMatch(/secret/);
  });
});
