import { GatewayError } from '@dormouse/gateway-contract';
import type { WASocket } from '@whiskeysockets/baileys';
import { testNetwork } from '../../socket/test-network.js';
import type { MessageAck, OpenSession } from '../../socket/open-session.js';
import { deferred } from '../../socket/deferred.js';
import { transmitMessage, NotTransmittedError } from './transmit-message.js';

describe('transmitMessage', () => {
  const message = { keyId: '3EB0AA', jid: '1@s.whatsapp.net', content: { conversation: 'x' } };
  const begin = ({
    jid = message.jid,
    attributes,
    first,
    onRelay,
  }: {
    jid?: string;
    attributes?: Record<string, string>;
    first?: Promise<unknown>;
    onRelay?: () => void;
  } = {}) => {
    const ack = deferred<MessageAck>();
    const write = deferred<string>();
    const calls: unknown[] = [];
    let written = 0;
    const socket: Pick<WASocket, 'relayMessage'> = {
      relayMessage: (...given) => {
        onRelay?.();
        calls.push(given);
        return write.promise;
      },
    };
    const holds = new Set<Promise<unknown>>();
    const session = {
      network: testNetwork(socket),
      expectAck: () => ack.promise,
      holdCiphertext: (work) => {
        holds.add(work);
        return () => holds.delete(work);
      },
    } as Pick<OpenSession, 'expectAck' | 'holdCiphertext'> as OpenSession;
    const onWritten = () => (written += 1);
    const given = { ...message, jid, ...(attributes && { attributes }) };
    const result = transmitMessage(session, given, { onWritten, ...(first && { first }) });
    result.catch(() => undefined);
    return { ack, write, calls, holds, result, written: () => written };
  };

  it('reports when the message is on the wire, and resolves with the acknowledgement of the network', async () => {
    const { ack, write, result, written } = begin();
    expect(written()).toBe(0);
    write.resolve(message.keyId);
    await Promise.resolve();
    ack.resolve({ timestampS: 7 });
    expect(await result).toEqual({ timestampS: 7 });
    expect(written()).toBe(1);
  });

  it('transmits the message once, under the id that was chosen before', async () => {
    const { ack, write, calls, result } = begin({ attributes: { edit: '1' } });
    write.resolve('');
    ack.resolve({});
    await result;
    expect(calls).toEqual([
      [message.jid, message.content, { messageId: message.keyId, additionalAttributes: { edit: '1' } }],
    ]);
  });

  it('takes an acknowledgement as proof that the message is on the wire', async () => {
    const { ack, result, written } = begin();
    ack.resolve({ error: '463' });
    expect(await result).toEqual({ error: '463' });
    expect(written()).toBe(1);
  });

  it('distinguishes a message that was never transmitted from one that may have been', async () => {
    const unsent = begin();
    unsent.write.reject(new Error('no keys'));
    await expect(unsent.result).rejects.toBeInstanceOf(NotTransmittedError);
    expect(unsent.written()).toBe(0);
    const dropped = begin();
    dropped.write.resolve('');
    dropped.ack.reject(new GatewayError(502));
    await expect(dropped.result).rejects.toBeInstanceOf(GatewayError);
  });

  it('lets what comes first reach its socket before the library encrypts', async () => {
    const order: string[] = [];
    const statement = async (): Promise<void> => {
      await Promise.resolve();
      // as the pool of connections does
      await new Promise<void>((resolve) => process.nextTick(() => (order.push('statement'), resolve())));
    };
    const { ack, write, calls, result } = begin({ first: statement(), onRelay: () => order.push('encryption') });
    write.resolve('');
    ack.resolve({});
    await result;
    expect(calls).toHaveLength(1);
    expect(order).toEqual(['statement', 'encryption']);
  });

  it('holds back what is encrypted until what comes first is done, and no longer than until the message is on the wire', async () => {
    const first = deferred<void>();
    const { ack, write, calls, holds, result } = begin({ first: first.promise });
    await new Promise<void>((resolve) => process.nextTick(resolve));
    expect(calls).toHaveLength(1);
    const [hold] = holds;
    let released = false;
    void hold?.then(() => (released = true));
    await Promise.resolve();
    expect(released).toBe(false);
    first.resolve();
    await hold;
    write.resolve('');
    ack.resolve({});
    await result;
    expect(holds.size).toBe(0);
  });

  it('does not transmit what needs no encryption before what comes first is done', async () => {
    const first = deferred<void>();
    const { calls, result } = begin({ jid: '120363000000000001@newsletter', first: first.promise });
    await Promise.resolve();
    expect(calls).toEqual([]);
    first.reject(new Error('store full'));
    await expect(result).rejects.toBeInstanceOf(NotTransmittedError);
    expect(calls).toEqual([]);
  });

  it('knows that nothing was transmitted when the connection drops before what comes first is done', async () => {
    const { ack, holds, result } = begin({ first: new Promise(() => undefined) });
    ack.reject(new GatewayError(502));
    await expect(result).rejects.toMatchObject({ name: 'NotTransmittedError', cause: { status: 503 } });
    expect(holds.size).toBe(0);
  });

  it('does not wait for a library that waits for a connection that is gone', async () => {
    const { ack, result, written } = begin();
    ack.reject(new GatewayError(502));
    await expect(result).rejects.toBeInstanceOf(GatewayError);
    expect(written()).toBe(0);
  });
});
