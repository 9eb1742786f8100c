import { createHmac } from 'node:crypto';

/** The `Stripe-Signature` of a payload: the moment and one signature for each secret that counts. */
export function signatureHeader(payload: string, secrets: readonly string[], atSeconds: number): string {
  const signatures = secrets.map((secret) => {
    const digest = createHmac('sha256', secret).update(`${atSeconds}.${payload}`).digest('hex');
    return `v1=${digest}`;
  });
  return [`t=${atSeconds}`, ...signatures].join(',');
}
