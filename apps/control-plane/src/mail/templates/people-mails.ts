/** Mails to users about themselves: addresses, passwords, sign-ins, invitations. */
import type { MailKinds } from '@dormouse/mail-outbox';
import { counted, moment, named, type MailParts } from './mail-parts.js';

export function verifyAddress({ link, validForHours }: MailKinds['verify-address'], sender: string): MailParts {
  return {
    subject: 'Confirm your e-mail address',
    paragraphs: [`This address was given to sign in to ${sender}. Please confirm that it is yours.`],
    action: { label: 'Confirm address', link },
    notes: [
      `The link works once, for ${counted(validForHours, 'hour')}.`,
      'If you did not do this, you need not do anything: without the confirmation nobody can use this address.',
    ],
  };
}

export function resetPassword({ link, validForMinutes }: MailKinds['reset-password'], sender: string): MailParts {
  return {
    subject: 'Set a new password',
    paragraphs: [`A new password was requested for your user at ${sender}.`],
    action: { label: 'Set a new password', link },
    notes: [
      `The link works once, for ${counted(validForMinutes, 'minute')}. A new password ends all your sessions.`,
      'If you did not request this, ignore this mail: your password stays as it is.',
    ],
  };
}

export function signUpAttempt({ signInLink, resetLink }: MailKinds['sign-up-attempt'], sender: string): MailParts {
  return {
    subject: 'You already have a user',
    paragraphs: [
      `Somebody tried to sign up at ${sender} with your address. You have a user there already, so nothing was changed.`,
      'If it was you, sign in with your password, or set a new one.',
    ],
    ...(signInLink === undefined ? {} : { action: { label: 'Sign in', link: signInLink } }),
    notes: [
      ...(resetLink === undefined ? [] : [`To set a new password: ${resetLink}`]),
      'If it was not you, you need not do anything: the person who tried does not learn that you have a user.',
    ],
  };
}

export function invitation(data: MailKinds['invitation'], sender: string): MailParts {
  const account = named(data.accountName);
  return {
    subject: `Invitation to ${account}`,
    paragraphs: [
      `${named(data.invitedBy)} invites you to the account "${account}" at ${sender}, with the role ${data.role}.`,
    ],
    action: { label: 'Accept the invitation', link: data.link },
    notes: [
      `The link works once, for ${counted(data.validForDays, 'day')}, and only for the address that this mail was sent to.`,
      'If you do not know the sender, ignore this mail.',
    ],
  };
}

export function newSignIn({ at, address, browser }: MailKinds['new-sign-in'], sender: string): MailParts {
  return {
    subject: 'Sign-in from a new place',
    paragraphs: [
      `Your user at ${sender} signed in on ${moment(at)} from ${named(address)}, with ${named(browser) || 'an unknown browser'}.`,
      'If it was you, you need not do anything.',
      'If it was not you, set a new password now: this ends all your sessions.',
    ],
  };
}

export function addressChanged({ at }: MailKinds['address-changed'], sender: string): MailParts {
  return {
    subject: 'Your e-mail address was changed',
    paragraphs: [
      `Your user at ${sender} has another e-mail address since ${moment(at)}. This one does not sign you in any more, and gets no more mail.`,
      'If it was you, you need not do anything.',
      `If it was not you, somebody else may use your user: write to the people who run ${sender} at once.`,
    ],
  };
}
