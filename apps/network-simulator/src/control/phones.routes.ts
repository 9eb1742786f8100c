import type { FastifyInstance } from 'fastify';
import { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import { z } from 'zod';
import type { Account } from '../network/account.js';
import type { Network } from '../network/network.js';
import { parseCode } from '../network/pairing-codes.js';
import { enterCode } from '../linking/pairing-by-code.js';
import { scanCode, unlink } from '../linking/pairing.js';
import { Refusal } from '../network/refusal.js';
import type { Phones } from '../phones/phones.js';
import { codeFrom } from './read-code.js';
import { accountOf } from './lookup.js';
import { changeNumber, removePhone } from './removal.js';
import type { WaitingLogins } from './waiting-logins.js';

const number = z.string().regex(/^\+?\d{5,17}$/, 'must be 5 to 17 digits, with or without + in front');
export const newPhone = z
  .object({
    phone: number.optional(),
    name: z.string().min(1).optional(),
  })
  .default({});
export const numberChange = z.object({ phone: number.describe('The new number, which nobody has yet.') });
export const scan = z
  .object({
    qr: z.string().min(1).optional(),
    png: z.string().min(1).optional(),
    url: z.url().optional(),
    waiting: z.string().min(1).optional(),
  })
  .refine(({ qr, png, url, waiting }) => qr ?? png ?? url ?? waiting, 'give qr, png, url or waiting');
export const settings = z.object({
  autoDeliver: z.boolean().optional(),
  historyFiles: z.enum(['large', 'always']).nullable().optional(),
});
export const letters = z.object({ code: z.string().min(8) });
const atPhone = z.object({ phone: z.string() });
const atDevice = z.object({ phone: z.string(), device: z.coerce.number().int().positive() });

/** Who is on the network, by number. */
function numberRoutes(app: FastifyInstance, network: Network): void {
  app.get('/numbers/:number', (request) => {
    const { number } = z.object({ number: z.string() }).parse(request.params);
    const account = network.accounts.findTyped(number.replace(/\D/g, ''));
    const known = account && !network.unknown(account) ? account : undefined;
    return { exists: known !== undefined, ...(known && summary(known)) };
  });
}

/** Phones and their linked devices. */
export function phoneRoutes(app: FastifyInstance, phones: Phones, waitingLogins: WaitingLogins): void {
  const { network } = phones;
  numberRoutes(app, network);
  app.post('/phones', (request, reply) => {
    const { phone, name } = newPhone.parse(request.body ?? {});
    const digits = phone?.replace('+', '');
    if (digits !== undefined && network.accounts.byNumber(digits)) {
      throw new Refusal(409, `The phone ${digits} exists already.`);
    }
    return reply.status(201).send(summary(network.accounts.add(digits, name)));
  });
  app.get('/phones', () => [...network.accounts.all()].map(summary));
  app.get('/phones/:phone', (request) => {
    const account = accountOf(network, atPhone.parse(request.params).phone);
    const phone = phones.of(account);
    return {
      ...summary(account),
      devices: devices(account),
      unreadable: [...phone.unreadable.keys()],
      settings: phone.settings,
    };
  });
  app.delete('/phones/:phone', async (request) => {
    const account = accountOf(network, atPhone.parse(request.params).phone);
    await removePhone(phones, account);
    return { removed: account.phone };
  });
  app.post('/phones/:phone/change-number', async (request) => {
    const account = accountOf(network, atPhone.parse(request.params).phone);
    const { phone } = numberChange.parse(request.body);
    return summary(await changeNumber(phones, account, phone.replace('+', '')));
  });
  app.post('/phones/:phone/scan', async (request) => {
    const account = accountOf(network, atPhone.parse(request.params).phone);
    const { waiting, ...given } = scan.parse(request.body);
    const code = waiting === undefined ? await codeFrom(given) : await waitingLogins.codeOf(waiting);
    const device = await scanCode(network, account, code);
    return { device: device.id };
  });
  app.post('/phones/:phone/link-code', async (request) => {
    const account = accountOf(network, atPhone.parse(request.params).phone);
    const { code } = letters.parse(request.body);
    const device = await enterCode(network, account, code.replace('-', '').toUpperCase());
    return { device: device.id };
  });
  app.get('/waiting-logins', async () => (await waitingLogins.names()).map((name) => ({ name })));
  app.get('/codes', () =>
    network.pairingCodes.waiting().map(({ connection, ref }) => ({
      ref,
      platform:
        proto.DeviceProps.decode(connection.payload.devicePairingData?.deviceProps ?? new Uint8Array()).os ?? '',
    })),
  );
  void app.register((scope) => anonymousScanRoute(scope, network));
  app.post('/phones/:phone/settings', (request) => {
    const account = accountOf(network, atPhone.parse(request.params).phone);
    const given = settings.parse(request.body);
    return phones.of(account).configure({
      ...(given.autoDeliver !== undefined && { autoDeliver: given.autoDeliver }),
      ...(given.historyFiles !== undefined && { historyFiles: given.historyFiles ?? undefined }),
    });
  });
  app.delete('/phones/:phone/devices/:device', (request) => {
    const { phone, device: id } = atDevice.parse(request.params);
    const device = accountOf(network, phone).devices.get(id);
    if (!device) throw new Refusal(404, `Device ${id} is not linked.`);
    unlink(network, device);
    return { unlinked: id };
  });
}

/**
 * A scan by a phone that nobody names. The body is the code's text under any content type, or none: Baileys' own suite
 * posts it without one (src/__tests__/e2e/helpers/mock-phone.ts).
 */
function anonymousScanRoute(scope: FastifyInstance, network: Network): void {
  scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  scope.post('/admin/mock-phone/scan-qr', async (request) => {
    const given = z.union([z.string().min(1), z.object({ qr: z.string().min(1) })]).parse(request.body);
    const qr = typeof given === 'string' ? given : given.qr;
    const account = accountFor(network, qr);
    const device = await scanCode(network, account, qr);
    return { ...summary(account), device: device.id };
  });
}

/**
 * Whose phone scans when none is named. A client may carry a push name: digits are the number to scan, anything else is the
 * name of the new phone.
 */
function accountFor(network: Network, qr: string): Account {
  const waiting = network.pairingCodes.find(parseCode(qr).ref);
  const wanted = (waiting && waiting !== 'expired' ? waiting.payload.pushName : undefined) || undefined;
  if (wanted === undefined || !/^\d{5,17}$/.test(wanted)) return network.accounts.add(undefined, wanted);
  return network.accounts.byNumber(wanted) ?? network.accounts.add(wanted);
}

function summary(account: Account): { phone: string; lid: string; name: string } {
  return { phone: account.phone, lid: account.lid, name: account.name };
}

function devices(
  account: Account,
): { device: number; online: boolean; linkedAt: string; waiting: number; platform: string }[] {
  return [...account.devices.values()].map((device) => ({
    device: device.id,
    online: device.online,
    linkedAt: new Date(device.state.linkedAtMs).toISOString(),
    waiting: device.queue.size,
    platform: device.state.platform,
  }));
}
