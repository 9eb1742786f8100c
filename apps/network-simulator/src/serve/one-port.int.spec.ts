import { X509Certificate } from 'node:crypto';
import { Agent, get } from 'node:https';
import WebSocket from 'ws';
import { startSimulator } from '../simulator.js';

describe('one port', () => {
  it('answers http, https, ws and wss with a certificate that verifies', async () => {
    const simulator = await startSimulator();
    const { control, certificate, socketUrl } = simulator;
    expect(new X509Certificate(certificate).verify(new X509Certificate(certificate).publicKey)).toBe(true);
    expect(await (await fetch(`${control}/health`)).json()).toEqual({ ok: true });
    const agent = new Agent({ ca: certificate });
    const status = await new Promise((resolve, reject) => {
      get(`${control.replace('http', 'https')}/health`, { agent }, (response) => resolve(response.statusCode)).on(
        'error',
        reject,
      );
    });
    expect(status).toBe(200);
    for (const [url, options] of [
      [socketUrl, {}],
      [socketUrl.replace('ws://', 'wss://'), { ca: certificate }],
      [socketUrl.replace('/ws/chat', '/anything?else'), {}],
    ] as const) {
      const socket = new WebSocket(url, options);
      await new Promise((resolve, reject) => {
        socket.once('open', resolve);
        socket.once('error', reject);
      });
      socket.terminate();
    }
    await simulator.stop();
  });

  it('keeps the connection of a client that pauses for a minute', async () => {
    const simulator = await startSimulator();
    const { headers } = await fetch(`${simulator.control}/health`);
    expect(headers.get('keep-alive')).toBe('timeout=72');
    await simulator.stop();
  });
});
