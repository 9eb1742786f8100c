import { Agent as HttpsAgent } from 'node:https';
import type { UserFacingSocketConfig } from '@whiskeysockets/baileys';
import { Agent, buildConnector } from 'undici';
import type { Simulator } from '../simulator.js';

/** Leads all a client uploads and downloads to the simulator over TLS, whatever host it names. */
export function mediaThrough(simulator: Simulator): Partial<UserFacingSocketConfig> {
  const { hostname, port } = new URL(simulator.control);
  const ca = simulator.certificate;
  const connect = buildConnector({ ca });
  const dispatcher = new Agent({
    connect: (options, callback) => connect({ ...options, hostname, host: hostname, port }, callback),
  });
  const options: object = { dispatcher };
  return { fetchAgent: new HttpsAgent({ ca }), options: options };
}
