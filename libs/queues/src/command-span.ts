import type { SpanFacts } from '@dormouse/traces';
import { commandQueueName } from './names.js';

/** All queues of commands in one name, for the names of spans: there are as many queues as shards. */
const TEMPLATE = 'commands.{shard}';

/** A span of a command on its way through the queue of a shard. */
export function commandSpan(operation: 'send' | 'process', shard: number, command: string, channelId: string) {
  const facts: SpanFacts = {
    'messaging.system': 'bullmq',
    'messaging.destination.name': commandQueueName(shard),
    'messaging.destination.template': TEMPLATE,
    'messaging.operation.name': operation,
    'messaging.operation.type': operation,
    'dormouse.command': command,
    'dormouse.channel.id': channelId,
  };
  return { name: `${operation} ${TEMPLATE}`, facts };
}
