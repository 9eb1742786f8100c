/** Mails to an account about its numbers and webhooks. */
import type { MailKinds } from '@dormouse/mail-outbox';
import { moment, named, type MailParts } from './mail-parts.js';

export function numberUnlinked({ channelId, channelName, at }: MailKinds['number-unlinked']): MailParts {
  const name = named(channelName);
  return {
    subject: `Number unlinked: ${name}`,
    paragraphs: [
      `The number of the channel "${name}" (${channelId}) was unlinked on its phone on ${moment(at)}.`,
      'Nothing can be sent or received with it until it is linked again: open the login image of the channel and scan it with the phone.',
    ],
    notes: ['Its messages, settings and webhooks are kept.'],
  };
}

export function webhookFailing(data: MailKinds['webhook-failing']): MailParts {
  const name = named(data.channelName);
  return {
    subject: `Webhook failing: ${name}`,
    paragraphs: [
      `The webhook at ${named(data.host)} of the channel "${name}" (${data.channelId}) has accepted nothing since ${moment(data.since)}.`,
      ...(data.lastError === null ? [] : [`The last attempt ended with: ${named(data.lastError)}`]),
      'Events are kept and posted again. Those that are not accepted within 72 hours are set aside, and can be delivered later on request.',
    ],
  };
}
