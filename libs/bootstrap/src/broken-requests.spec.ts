import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { Duplex } from 'node:stream';
import { Socket } from 'node:net';
import { answerBrokenRequests, headerFault, acceptEveryExpectation, type RequestFault } from './broken-requests.js';
import { openLog } from './log.js';

function opened() {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  const answerTo = ({ status, details }: RequestFault) => ({ status, headers: { 'x-own': 'yes' }, body: details });
  return { lines, ...answerBrokenRequests({ answerTo, log: openLog({ name: 'spec', destination }) }) };
}

/** What is written on a socket. */
function socket(): { socket: Socket; written: () => string } {
  let text = '';
  const stream = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      text += chunk.toString();
      done();
    },
  });
  return { socket: stream as Socket, written: () => text };
}

describe('answerBrokenRequests', () => {
  it.each([
    ['FST_ERR_MAX_PARAM_LENGTH', 404, /longer than any id/],
    ['FST_ERR_BAD_URL', 400, /^path: is not a valid URL/],
    ['FST_ERR_ASYNC_CONSTRAINT', 400, /^path: /],
  ])("answers Fastify's %s in the application's form, with a request id, and logs it", (code, status, details) => {
    const { frameworkErrors, lines } = opened();
    const raw = new ServerResponse(new IncomingMessage(new Socket()));
    const { socket: open, written } = socket();
    raw.assignSocket(open);
    frameworkErrors({ code }, { id: 'request-1', method: 'GET' }, { raw });
    const [head = '', body = ''] = written().split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toMatch(/x-own: yes\r\n/);
    expect(head).toMatch(/x-request-id: request-1\r\n/);
    expect(body).toMatch(details);
    expect(lines).toMatchObject([{ msg: 'request', requestId: 'request-1', method: 'GET', status }]);
  });

  it.each([
    ['HPE_HEADER_OVERFLOW', /16 KiB/],
    ['ERR_HTTP_REQUEST_TIMEOUT', /too long/],
    ['HPE_INVALID_METHOD', /not valid HTTP/],
    [undefined, /not valid HTTP/],
  ])("answers what Node refuses (%s) in the application's form", (code, details) => {
    const { clientErrorHandler, lines } = opened();
    const { socket: open, written } = socket();
    clientErrorHandler({ ...(code !== undefined && { code }) }, open);
    const [head = '', body = ''] = written().split('\r\n\r\n');
    expect(head.split('\r\n')[0]).toBe('HTTP/1.1 400 Bad Request');
    expect(head).toMatch(/x-own: yes\r\n/);
    expect(head).toMatch(/x-request-id: [0-9a-f-]{36}\r\n/);
    expect(body).toMatch(details);
    expect(lines).toMatchObject([{ msg: 'request', status: 400 }]);
  });

  it('writes nothing on a connection that is gone', () => {
    const { clientErrorHandler, lines } = opened();
    const { socket: open, written } = socket();
    clientErrorHandler({ code: 'ECONNRESET' }, open);
    expect([written(), lines]).toEqual(['', []]);
  });
});

describe('headerFault', () => {
  const fault = (headers: Record<string, string>, httpVersion = '1.1') =>
    headerFault({ headers, httpVersion } as IncomingMessage)?.details;

  it('names a missing Host and an unknown Expect', () => {
    expect(fault({})).toMatch(/^host: /);
    expect(fault({}, '1.0')).toBeUndefined();
    expect(fault({ host: 'a', expect: 'x' })).toMatch(/^expect: /);
    expect(fault({ host: 'a', expect: '100-Continue' })).toBeUndefined();
  });
});

describe('acceptEveryExpectation', () => {
  it('passes a request with an unknown expectation to the application', () => {
    const server = createServer();
    const seen: unknown[] = [];
    acceptEveryExpectation(server);
    server.on('request', (request, response) => seen.push(request, response));
    server.emit('checkExpectation', 'request', 'response');
    expect(seen).toEqual(['request', 'response']);
  });
});
