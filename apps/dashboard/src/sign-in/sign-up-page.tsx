import { Anchor, Button, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useAction, useRead } from '../api/api.js';
import { FailureNote } from '../frame/failure-note.js';
import { Loading } from '../frame/page.js';
import { SignedOutPage } from '../frame/signed-out-page.js';
import { SendAgain } from './send-again.js';
import { AddressField, NameField, NewPasswordField } from './user-fields.js';

/** Name, address and password; then the mail that confirms the address. Where sign-up is closed: who to turn to. */
export function SignUpPage() {
  const { t } = useTranslation('signIn');
  const installation = useRead('getInstallation', {});
  return (
    <SignedOutPage title={t('signUp.title')}>
      {installation.isPending && <Loading />}
      <FailureNote error={installation.error} />
      {installation.data && (installation.data.sign_in.sign_up ? <SignUpForm /> : <Text>{t('signUp.closed')}</Text>)}
      <Anchor component={Link} to="/sign-in" size="sm">
        {t('signUp.known')}
      </Anchor>
    </SignedOutPage>
  );
}

function SignUpForm() {
  const { t } = useTranslation('signIn');
  const form = useForm({ initialValues: { name: '', email: '', password: '' } });
  const signUp = useAction('signUp');
  if (signUp.isSuccess) return <LookIntoMail email={form.values.email} />;
  return (
    <form onSubmit={form.onSubmit((body) => signUp.mutate({ body }))}>
      <Stack>
        <NameField input={form.getInputProps('name')} error={signUp.error} />
        <AddressField input={form.getInputProps('email')} error={signUp.error} />
        <NewPasswordField input={form.getInputProps('password')} error={signUp.error} />
        <FailureNote error={signUp.error} fields={['name', 'email', 'password']} />
        <Button type="submit" loading={signUp.isPending}>
          {t('signUp.submit')}
        </Button>
      </Stack>
    </form>
  );
}

function LookIntoMail({ email }: { email: string }) {
  const { t } = useTranslation('signIn');
  return (
    <Stack>
      <Text role="status">{t('sent.text', { email })}</Text>
      <Text size="sm" c="dimmed">
        {t('sent.missing')}
      </Text>
      <SendAgain email={email} />
    </Stack>
  );
}
