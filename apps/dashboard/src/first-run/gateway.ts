/**
 * Requests to a region's gateway as a customer's program makes them: from the browser, with the channel's token. The token
 * goes into the header alone.
 */
export interface GatewayAnswer {
  status: number;
  /** Text of the answer; JSON is indented. */
  text: string;
  tookMs: number;
}

interface SendSettings {
  fetch?: typeof globalThis.fetch;
  wait?: (ms: number) => Promise<void>;
  now?: () => number;
}

/** Pauses before a 503 is repeated: a channel that has just been linked connects within seconds. */
const PAUSES_MS = [500, 1_000, 2_000, 4_000];

/**
 * Sends a text message. A 503 is repeated, as the documentation advises.
 * @throws when the gateway does not answer
 */
export async function sendText(
  { gatewayUrl, token, to, body }: { gatewayUrl: string; token: string; to: string; body: string },
  { fetch = globalThis.fetch, wait = waitMs, now = () => performance.now() }: SendSettings = {},
): Promise<GatewayAnswer> {
  const startedMs = now();
  for (let tries = 0; ; tries++) {
    const response = await fetch(`${gatewayUrl}/messages/text`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ to, body }),
      credentials: 'omit',
    });
    const pauseMs = PAUSES_MS[tries];
    if (response.status === 503 && pauseMs !== undefined) {
      await wait(pauseMs);
      continue;
    }
    return { status: response.status, text: indented(await response.text()), tookMs: Math.round(now() - startedMs) };
  }
}

/** The same request for a terminal. */
export function curlOf(gatewayUrl: string, token: string, message: { to: string; body: string }): string {
  return [
    `curl ${gatewayUrl}/messages/text \\`,
    `  -H 'Authorization: Bearer ${token}' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${JSON.stringify(message).replaceAll("'", String.raw`'\''`)}'`,
  ].join('\n');
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

function waitMs(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
