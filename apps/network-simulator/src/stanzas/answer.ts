import type { Connection } from '../network/connection.js';
import type { Device } from '../network/account.js';
import type { Network } from '../network/network.js';
import { NOT_SIMULATED, notSimulated, Refusal } from '../network/refusal.js';
import { SERVER } from '../wire/jid.js';
import { child, node, type Node } from '../wire/node.js';
import { answerCodeLinking } from '../linking/pairing-by-code.js';
import { handlers } from './handlers.js';

/** Every query gets an answer, a refusal when it is about what is not simulated: a client that gets none waits a minute. */
export async function answerIq(
  network: Network,
  connection: Connection,
  device: Device | undefined,
  iq: Node,
): Promise<void> {
  const { type, id, xmlns, to } = iq.attrs;
  if (type !== 'get' && type !== 'set') return;
  const handler = handlers[xmlns ?? ''];
  const registration = device ? undefined : child(iq, 'link_code_companion_reg');
  try {
    const place = { phone: device?.account.phone, device: device?.id, xmlns };
    const refused = network.faults.trigger('refuse-iq', place);
    if (refused) throw new Refusal(refused.code ?? 500, refused.text ?? 'internal-server-error');
    if (!handler && device) throw notSimulated();
    const content = handler && device ? await handler({ network, connection, device }, iq) : undefined;
    const linking = registration && answerCodeLinking(network, connection, registration);
    connection.send(node('iq', { type: 'result', id, from: to ?? SERVER }, linking ?? content));
  } catch (failure) {
    if (failure instanceof Refusal && failure.code === NOT_SIMULATED) {
      network.log.info({ xmlns, content: tagsOf(iq) }, 'a query about what is not simulated is refused');
    }
    if (!(failure instanceof Refusal)) network.log.error({ xmlns, reason: String(failure) }, 'a query failed');
    const code = failure instanceof Refusal ? failure.code : 500;
    const text = failure instanceof Refusal ? failure.text : 'internal-server-error';
    connection.send(
      node('iq', { type: 'error', id, from: to ?? SERVER }, [node('error', { code: String(code), text })]),
    );
  }
}

function tagsOf(iq: Node): string[] {
  return Array.isArray(iq.content) ? iq.content.map((part) => part.tag) : [];
}
