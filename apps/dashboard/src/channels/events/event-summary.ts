import type { PulledEvent } from '@dormouse/management-contract';

/** What an event is about, in a line: `messages.post`, and of messages the sender and the beginning of the text. */
export function eventSummary({ body }: Pick<PulledEvent, 'body'>): { name: string; text: string } {
  const event = recordOf(body['event']);
  const name = [event['type'], event['event']].filter((part) => typeof part === 'string').join('.');
  const [message] = listOf(body['messages']);
  const [status] = listOf(body['statuses']);
  if (message) {
    const text = recordOf(message['text'])['body'] ?? message['type'];
    return { name, text: [message['from'], text].filter((part) => typeof part === 'string').join(': ') };
  }
  if (status)
    return { name, text: [status['status'], status['id']].filter((part) => typeof part === 'string').join(' ') };
  return { name, text: '' };
}

function recordOf(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : {};
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(recordOf) : [];
}
