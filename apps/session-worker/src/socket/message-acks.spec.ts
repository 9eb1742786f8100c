import { deferred } from './deferred.js';
import { MessageAcks } from './message-acks.js';

const ack = (attrs: Record<string, string>) => ({ tag: 'ack', attrs: { class: 'message', ...attrs } });

const written = Promise.resolve();

describe('MessageAcks', () => {
  it('reports when the network accepted a message', async () => {
    const acked: unknown[] = [];
    const acks = new MessageAcks(60_000, (one) => acked.push(one));
    const accepted = acks.expect('A1', written);
    acks.receive(ack({ id: 'B1', t: '5' }));
    acks.receive(ack({ id: 'A1', t: '1700000000' }));
    await expect(accepted).resolves.toEqual({ timestampS: 1_700_000_000 });
    expect(acked).toEqual([{ timestampS: 1_700_000_000 }]);
  });

  it('reports the code of a refusal', async () => {
    const acks = new MessageAcks(60_000);
    const refused = acks.expect('A1', written);
    acks.receive(ack({ id: 'A1', error: '463' }));
    await expect(refused).resolves.toEqual({ error: '463' });
  });

  it('shares one wait among callers that expect the same message', async () => {
    const acks = new MessageAcks(60_000);
    const both = [acks.expect('A1', written), acks.expect('A1', written)];
    acks.receive(ack({ id: 'A1' }));
    await expect(Promise.all(both)).resolves.toEqual([{}, {}]);
  });

  it('gives 502 when no ack comes in time', async () => {
    await expect(new MessageAcks(1).expect('A1', written)).rejects.toMatchObject({ status: 502 });
  });

  it('begins to wait when the message is written, however long that takes', async () => {
    const acks = new MessageAcks(5);
    const write = deferred<void>();
    const waiting = acks.expect('A1', write.promise);
    await new Promise((resolve) => setTimeout(resolve, 25));
    acks.receive(ack({ id: 'A1', t: '7' }));
    await expect(waiting).resolves.toEqual({ timestampS: 7 });
    const unanswered = acks.expect('A2', write.promise);
    write.resolve();
    await expect(unanswered).rejects.toMatchObject({ status: 502 });
  });

  it('gives 502 when the connection ends first, and at once after that', async () => {
    const acks = new MessageAcks(60_000);
    const waiting = acks.expect('A1', written);
    acks.end();
    await expect(waiting).rejects.toMatchObject({
      status: 502,
      details: expect.stringContaining('may have been sent'),
    });
    await expect(acks.expect('A2', written)).rejects.toMatchObject({ status: 502 });
  });
});
