import { joinBody, resetPasswordBody, signUpBody, verifyAddressBody } from '@dormouse/management-contract';
import type { z } from 'zod';
import type { Joining } from '../teams/joining.js';
import type { PageField } from './page-html.js';
import type { SignIn } from './sign-in.js';
import type { Visitor } from './sign-in-engine.js';

/** A page that a link with a token leads to. */
export interface LinkPage<Schema extends z.ZodObject = z.ZodObject> {
  path: string;
  title: string;
  text: readonly string[];
  fields: readonly PageField[];
  button: string;
  doneTitle: string;
  doneText: readonly string[];
  /** Of what its form sends. */
  schema: Schema;
  /** @throws {GatewayError} 400 that names the field */
  use(form: z.output<Schema>, visitor: Visitor, requestId: string): Promise<unknown>;
}

const NEW_PASSWORD: PageField = {
  name: 'password',
  label: 'New password',
  type: 'password',
  autocomplete: 'new-password',
  hint: 'At least 10 characters. Several words that do not belong together are good.',
};

const YOUR_NAME: PageField = { name: 'name', label: 'Your name', type: 'text', autocomplete: 'name' };

const page = <Schema extends z.ZodObject>(one: LinkPage<Schema>): LinkPage<Schema> => one;

const firstOwnerForm = signUpBody.extend(verifyAddressBody.shape);

/** Who does what the pages are for. */
export interface LinkPageParts {
  signIn: SignIn;
  joining: Joining;
}

export function linkPages({ signIn, joining }: LinkPageParts): LinkPage[] {
  return [
    page({
      path: '/verify-email',
      title: 'Confirm your address',
      text: ['Press the button to confirm that this address is yours. If you have not asked for this, close the page.'],
      fields: [],
      button: 'Confirm',
      doneTitle: 'Your address is confirmed',
      doneText: ['You can sign in now.'],
      schema: verifyAddressBody,
      use: ({ token }, visitor) => signIn.parts.signingUp.verifyAddress(token, visitor),
    }),
    page({
      path: '/new-password',
      title: 'Set a new password',
      text: ['All your sessions end when the password is set.'],
      fields: [NEW_PASSWORD],
      button: 'Set password',
      doneTitle: 'Your password is set',
      doneText: ['You can sign in with it now.'],
      schema: resetPasswordBody,
      use: (form, visitor) => signIn.parts.signingUp.reset(form, visitor),
    }),
    page({
      path: '/invitation',
      title: 'Accept your invitation',
      text: [
        'Give your name and a password: you can sign in with them and the address that was invited.',
        'If you have a user here already, sign in and accept the invitation there.',
      ],
      fields: [YOUR_NAME, NEW_PASSWORD],
      button: 'Accept',
      doneTitle: 'You are a member now',
      doneText: ['You can sign in with your address and password.'],
      schema: joinBody,
      use: (form, { address }, requestId) => joining.join(form, { address, requestId }),
    }),
    page({
      path: '/first-owner',
      title: 'Set up the first owner',
      text: ['You will own the first account of this installation, and be its operator.'],
      fields: [
        YOUR_NAME,
        { name: 'email', label: 'E-mail address', type: 'email', autocomplete: 'email' },
        NEW_PASSWORD,
      ],
      button: 'Set up',
      doneTitle: 'You are the owner',
      doneText: ['You can sign in with your address and password now.'],
      schema: firstOwnerForm,
      use: ({ token, ...user }) => signIn.acceptFirstOwner(token, user),
    }),
  ];
}
