/** Mails to an account about payments and what follows from them. */
import type { MailKinds } from '@dormouse/mail-outbox';
import { counted, moment, type MailParts } from './mail-parts.js';

const pay = (link: string | null): Pick<MailParts, 'action'> =>
  link === null ? {} : { action: { label: 'Pay the invoice', link } };

export function paymentFailed({ amount, graceEndsAt, invoiceLink }: MailKinds['payment-failed']): MailParts {
  return {
    subject: 'A payment failed',
    paragraphs: [
      `The payment of ${amount} did not succeed.`,
      graceEndsAt === null
        ? 'Numbers that were paid for before go on as they are; what this invoice is for stays unpaid.'
        : `All numbers go on until ${moment(graceEndsAt)}. After that, requests of those that are not free are refused with 402 until the invoice is paid.`,
    ],
    ...pay(invoiceLink),
  };
}

export function graceEnding({ graceEndsAt, invoiceLink }: MailKinds['grace-ending']): MailParts {
  return {
    subject: 'An invoice is still open',
    paragraphs: [
      `Your numbers go on until ${moment(graceEndsAt)}. After that, requests of those that are not free are refused with 402.`,
      'They stay linked, and work again as soon as the invoice is paid.',
    ],
    ...pay(invoiceLink),
  };
}

export function numbersStopped({ numbers, invoiceLink }: MailKinds['numbers-stopped']): MailParts {
  return {
    subject: `${counted(numbers, 'number')} stopped`,
    paragraphs: [
      `Requests of ${counted(numbers, 'number')} are refused with 402 now, because an invoice is not paid.`,
      'They stay linked and their webhooks go on. They work again as soon as the invoice is paid; nothing has to be scanned.',
    ],
    ...pay(invoiceLink),
  };
}

export function servedAgain({ numbers }: MailKinds['served-again']): MailParts {
  const verb = numbers === 1 ? 'works' : 'work';
  return {
    subject: `${counted(numbers, 'number')} ${verb} again`,
    paragraphs: [`Thank you for the payment. ${counted(numbers, 'number')} ${verb} again, without a new scan.`],
  };
}

export function secondSubscription({ accountId, subscription }: MailKinds['second-subscription']): MailParts {
  return {
    subject: 'An account had two subscriptions',
    paragraphs: [
      `Account ${accountId} had a second subscription, ${subscription}. Its payments are refunded, and it is cancelled at once; the older one stays.`,
      'Look at the customer at Stripe: a subscription was made by hand, or the account was given a second customer.',
    ],
  };
}
