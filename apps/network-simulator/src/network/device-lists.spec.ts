import { Account, type DeviceState } from './account.js';
import { deviceListHash } from './device-lists.js';

const account = Account.fresh('6591110001', '123456789012345', 'Alice', () => undefined);
const device = (id: number): DeviceState => ({
  id,
  keyIndex: id,
  linkedAtMs: 0,
  noise: Buffer.alloc(32),
  identity: Buffer.alloc(32),
  registrationId: 1,
  signedPreKey: { id: 1, value: Buffer.alloc(32), signature: Buffer.alloc(64) },
  platform: '',
  fullHistory: false,
  preKeysTaken: 0,
  bootstrapped: true,
  queue: [],
});
account.addDevice(device(12));
account.addDevice(device(3));

it('a list of devices has the hash that whatsmeow computes of it', () => {
  // printf '6591110001.0:0@s.whatsapp.net6591110001.0:12@s.whatsapp.net6591110001.0:3@s.whatsapp.net' | sha256sum
  expect(deviceListHash([account], 's.whatsapp.net')).toBe('2:f3bdBd6z');
  expect(deviceListHash([account], 'lid')).toBe('2:1dUiOmDh');
});
