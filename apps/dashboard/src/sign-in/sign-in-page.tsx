import { Anchor, Button, Divider, Group, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { ApiFailure, useAction, useRead } from '../api/api.js';
import { FailureNote, fieldFault } from '../frame/failure-note.js';
import { PasswordField } from '../frame/password-field.js';
import { SignedOutPage } from '../frame/signed-out-page.js';
import { useEnter } from './entering.js';
import { SendAgain } from './send-again.js';
import { AddressField } from './user-fields.js';

/** Address and password, or the identity provider of the installation; the code of a second factor is the next page. */
export function SignInPage() {
  const { t } = useTranslation('signIn');
  const { returnTo } = useSearch({ from: '/sign-in' });
  const signUp = useRead('getInstallation', {}).data?.sign_in.sign_up;
  return (
    <SignedOutPage title={t('title')}>
      <ProviderButton returnTo={returnTo} />
      <PasswordForm returnTo={returnTo} />
      <Group justify="space-between">
        <Anchor component={Link} to="/forgot-password" size="sm">
          {t('forgot.link')}
        </Anchor>
        {signUp === true && (
          <Anchor component={Link} to="/sign-up" size="sm">
            {t('signUp.link')}
          </Anchor>
        )}
      </Group>
    </SignedOutPage>
  );
}

function PasswordForm({ returnTo }: { returnTo: string | undefined }) {
  const { t } = useTranslation('signIn');
  const navigate = useNavigate();
  const enter = useEnter();
  const form = useForm({ initialValues: { email: '', password: '' } });
  const signIn = useAction('signIn', {
    onDone: ({ code_required: needsCode }) => {
      if (!needsCode) return enter(returnTo);
      void navigate({ to: '/sign-in/code', search: returnTo === undefined ? {} : { return_to: returnTo } });
    },
  });
  const isUnconfirmed = signIn.error instanceof ApiFailure && signIn.error.status === 403;
  return (
    <form onSubmit={form.onSubmit((body) => signIn.mutate({ body }))}>
      <Stack>
        <AddressField input={form.getInputProps('email')} error={signIn.error} autoComplete="username" />
        <PasswordField
          label={t('password')}
          autoComplete="current-password"
          required
          {...form.getInputProps('password')}
          error={fieldFault(signIn.error, 'password')}
        />
        <FailureNote error={signIn.error} fields={['email', 'password']} />
        {isUnconfirmed && <SendAgain email={form.values.email} />}
        <Button type="submit" loading={signIn.isPending}>
          {t('submit')}
        </Button>
      </Stack>
    </form>
  );
}

function ProviderButton({ returnTo = '/' }: { returnTo: string | undefined }) {
  const { t } = useTranslation('signIn');
  const provider = useRead('getInstallation', {}).data?.sign_in.identity_provider;
  const start = useAction('startIdentityProvider', { onDone: ({ url }) => window.location.assign(url) });
  if (provider === undefined) return null;
  return (
    <>
      <Button
        variant="default"
        loading={start.isPending}
        onClick={() => start.mutate({ body: { return_to: returnTo } })}
      >
        {t('provider', { provider })}
      </Button>
      <FailureNote error={start.error} />
      <Divider label={t('or')} />
    </>
  );
}
