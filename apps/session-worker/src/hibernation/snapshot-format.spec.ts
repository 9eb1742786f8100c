import { randomBytes } from 'node:crypto';
import { stateText } from '../auth-state/plain-state.js';
import { newDataKey, type MasterKeys } from '../encryption/data-keys.js';
import { UnsealableError } from '../encryption/sealing.js';
import { openSnapshot, rewrapSnapshot, sealSnapshot } from './snapshot-format.js';

const OLD = randomBytes(32);
const master: MasterKeys = { currentId: 'old', keys: new Map([['old', OLD]]) };
const name = { channelId: 'SLEEPER-1', generation: 3, epoch: '7' };
const state = {
  creds: Buffer.from('{"noiseKey":"secret of a spec"}'),
  keys: Array.from({ length: 50 }, (_, n) => ({
    type: 'pre-key',
    id: `${n}`,
    plain: Buffer.from(`{"n":"ключ ${n}"}`),
  })),
};

describe('a snapshot', () => {
  const key = newDataKey(master, name.channelId);
  let bytes: Buffer;

  beforeAll(async () => {
    bytes = await sealSnapshot(name, key, stateText(state));
  });

  it('opens to exactly what was sealed, with the data key it was sealed with', async () => {
    const opened = await openSnapshot(master, name, bytes);
    expect(opened.state).toEqual(state);
    expect(opened.dataKey).toEqual(key.dataKey);
    expect(opened.wrapped).toEqual(key.wrapped);
  });

  it('shows nothing of what is in it, and is smaller', () => {
    expect(bytes.includes('secret')).toBe(false);
    const plainBytes = state.keys.reduce((sum, { plain }) => sum + plain.length, state.creds.length);
    expect(bytes.length).toBeLessThan(plainBytes);
  });

  it('is refused when it was cut short anywhere', async () => {
    for (let length = 0; length < bytes.length; length += 7) {
      await expect(openSnapshot(master, name, bytes.subarray(0, length))).rejects.toBeInstanceOf(UnsealableError);
    }
  });

  it('is refused when any byte was changed', async () => {
    for (let at = 0; at < bytes.length; at += 3) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(at) ^ 0x10, at);
      await expect(openSnapshot(master, name, changed)).rejects.toBeInstanceOf(UnsealableError);
    }
  });

  it('opens for no other channel, generation or epoch', async () => {
    for (const other of [{ channelId: 'SLEEPER-2' }, { generation: 4 }, { epoch: '8' }]) {
      await expect(openSnapshot(master, { ...name, ...other }, bytes)).rejects.toBeInstanceOf(UnsealableError);
    }
  });

  it('is wrapped by another master key without being opened, and opens without the old one', async () => {
    const keys = new Map([['new', randomBytes(32)]]);
    const both: MasterKeys = { currentId: 'new', keys: new Map([...keys, ['old', OLD]]) };
    const rewrapped = rewrapSnapshot(both, name, bytes);
    expect((await openSnapshot({ currentId: 'new', keys }, name, rewrapped ?? Buffer.alloc(0))).state).toEqual(state);
    await expect(openSnapshot({ currentId: 'new', keys }, name, bytes)).rejects.toBeInstanceOf(UnsealableError);
    expect(rewrapSnapshot(both, name, rewrapped ?? Buffer.alloc(0))).toBeUndefined();
  });
});
