import { MessageAcks } from './message-acks.js';

const ack = (attrs: Record<string, string>) => ({ tag: 'ack', attrs: { class: 'message', ...attrs } });

describe('MessageAcks', () => {
  it('tells when the network accepted a message, and at what time', async () => {
    const heard: unknown[] = [];
    const acks = new MessageAcks(60_000, (one) => heard.push(one));
    const accepted = acks.expect('A1');
    acks.hear(ack({ id: 'B1', t: '5' }));
    acks.hear(ack({ id: 'A1', t: '1700000000' }));
    await expect(accepted).resolves.toEqual({ timestampS: 1_700_000_000 });
    expect(heard).toEqual([{ timestampS: 1_700_000_000 }]);
  });

  it('tells the code of a refusal', async () => {
    const acks = new MessageAcks(60_000);
    const refused = acks.expect('A1');
    acks.hear(ack({ id: 'A1', error: '463' }));
    await expect(refused).resolves.toEqual({ error: '463' });
  });

  it('shares one wait among those who expect the same message', async () => {
    const acks = new MessageAcks(60_000);
    const both = [acks.expect('A1'), acks.expect('A1')];
    acks.hear(ack({ id: 'A1' }));
    await expect(Promise.all(both)).resolves.toEqual([{}, {}]);
  });

  it('gives 502 when no ack comes in time', async () => {
    await expect(new MessageAcks(1).expect('A1')).rejects.toMatchObject({ status: 502 });
  });

  it('gives 502 when the connection ends first, and at once after that', async () => {
    const acks = new MessageAcks(60_000);
    const waiting = acks.expect('A1');
    acks.end();
    await expect(waiting).rejects.toMatchObject({
      status: 502,
      details: expect.stringContaining('may have been sent'),
    });
    await expect(acks.expect('A2')).rejects.toMatchObject({ status: 502 });
  });
});
