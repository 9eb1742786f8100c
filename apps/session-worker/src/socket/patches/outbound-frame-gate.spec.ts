import { setImmediate as turn } from 'node:timers/promises';
import { OutboundFrameGate } from './outbound-frame-gate.js';

function guarded() {
  const left: string[] = [];
  const sender = {
    send: (frame: Uint8Array, sent?: (error?: Error) => void) => {
      left.push(Buffer.from(frame).toString());
      sent?.();
    },
  };
  const gate = new OutboundFrameGate();
  gate.guard(sender);
  const send = (text: string): Promise<void> =>
    new Promise((resolve, reject) => sender.send(Buffer.from(text), (error) => (error ? reject(error) : resolve())));
  return { gate, left, send };
}

function write() {
  const handle: { end: () => void; fail: (error: Error) => void; promise: Promise<void> } = {
    end: () => undefined,
    fail: () => undefined,
    promise: Promise.resolve(),
  };
  handle.promise = new Promise((resolve, reject) => Object.assign(handle, { end: resolve, fail: reject }));
  return handle;
}

describe('OutboundFrameGate', () => {
  it('lets frames pass at once when nothing is held', () => {
    const { left, send } = guarded();
    void send('a');
    expect(left).toEqual(['a']);
  });

  it('holds frames until the write has ended, in order', async () => {
    const { gate, left, send } = guarded();
    const creds = write();
    gate.hold(creds.promise);
    const sent = [send('a'), send('b')];
    await turn();
    expect(left).toEqual([]);
    creds.end();
    await Promise.all(sent);
    expect(left).toEqual(['a', 'b']);
    void send('c');
    expect(left).toEqual(['a', 'b', 'c']);
  });

  it('waits for every write that is held', async () => {
    const { gate, left, send } = guarded();
    const [one, two] = [write(), write()];
    gate.hold(one.promise);
    const first = send('a');
    gate.hold(two.promise);
    const second = send('b');
    one.end();
    await first;
    await turn();
    expect(left).toEqual(['a']);
    two.end();
    await second;
    expect(left).toEqual(['a', 'b']);
  });

  it('lets nothing leave any more after a write that failed', async () => {
    const { gate, left, send } = guarded();
    const creds = write();
    gate.hold(creds.promise);
    const sent = send('a');
    creds.fail(new Error('fenced'));
    await expect(sent).rejects.toThrow('fenced');
    await expect(send('b')).rejects.toThrow('fenced');
    expect(left).toEqual([]);
  });
});
