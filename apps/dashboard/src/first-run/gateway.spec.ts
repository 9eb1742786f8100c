import { curlOf, sendText } from './gateway.js';

const MESSAGE = { gatewayUrl: 'https://gateway.test', token: 'secret-token', to: '4915112345678', body: 'Hello' };

/** Answers in this order, and what was sent. */
function gatewayOf(...answers: (Response | Error)[]) {
  const sent: { url: string; init: RequestInit | undefined }[] = [];
  const pauses: number[] = [];
  let clockMs = 0;
  const settings = {
    fetch: async (url: unknown, init?: RequestInit): Promise<Response> => {
      sent.push({ url: String(url), init });
      const answer = answers.shift();
      if (answer instanceof Error || !answer) throw answer ?? new Error('one request too many');
      return answer;
    },
    wait: async (ms: number): Promise<void> => {
      pauses.push(ms);
      clockMs += ms;
    },
    now: () => clockMs,
  };
  return { settings, sent, pauses };
}

describe('sendText', () => {
  it('sends the token in its header alone, without cookies, and answers what the gateway answered', async () => {
    const { settings, sent } = gatewayOf(new Response('{"sent":true}', { status: 200 }));
    await expect(sendText(MESSAGE, settings)).resolves.toEqual({
      status: 200,
      text: '{\n  "sent": true\n}',
      tookMs: 0,
    });
    expect(sent).toEqual([
      {
        url: 'https://gateway.test/messages/text',
        init: {
          method: 'POST',
          headers: { authorization: 'Bearer secret-token', 'content-type': 'application/json' },
          body: '{"to":"4915112345678","body":"Hello"}',
          credentials: 'omit',
        },
      },
    ]);
  });

  it('repeats a 503 after growing pauses, and shows it in the end', async () => {
    const away = (): Response => new Response('busy', { status: 503 });
    const soon = gatewayOf(away(), away(), new Response('{}', { status: 200 }));
    await expect(sendText(MESSAGE, soon.settings)).resolves.toMatchObject({ status: 200, tookMs: 1_500 });
    expect(soon.pauses).toEqual([500, 1_000]);
    const never = gatewayOf(away(), away(), away(), away(), away());
    await expect(sendText(MESSAGE, never.settings)).resolves.toMatchObject({ status: 503, text: 'busy' });
    expect(never.sent).toHaveLength(5);
  });

  it('repeats nothing else', async () => {
    const refused = gatewayOf(new Response('{}', { status: 402 }));
    await expect(sendText(MESSAGE, refused.settings)).resolves.toMatchObject({ status: 402 });
    const dead = gatewayOf(new TypeError('fetch failed'));
    await expect(sendText(MESSAGE, dead.settings)).rejects.toThrow('fetch failed');
    expect([refused.sent.length, dead.sent.length]).toEqual([1, 1]);
  });
});

describe('curlOf', () => {
  it('quotes for a shell', () => {
    const line = curlOf('https://gateway.test', 't', { to: '49', body: "it's me" });
    expect(line).toContain(String.raw`-d '{"to":"49","body":"it'\''s me"}'`);
  });
});
