import { Anchor, Button, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useAction } from '../api/api.js';
import { FailureNote } from '../frame/failure-note.js';
import { SignedOutPage } from '../frame/signed-out-page.js';
import { AddressField } from './user-fields.js';

/** Requests the mail with which a new password is set. */
export function ForgotPasswordPage() {
  const { t } = useTranslation('signIn');
  const form = useForm({ initialValues: { email: '' } });
  const send = useAction('requestPasswordReset');
  return (
    <SignedOutPage title={t('forgot.title')}>
      <form onSubmit={form.onSubmit((body) => send.mutate({ body }))}>
        <Stack>
          <Text size="sm">{t('forgot.about')}</Text>
          <AddressField input={form.getInputProps('email')} error={send.error} autoComplete="username" />
          <FailureNote error={send.error} fields={['email']} />
          <Text role="status">{send.isSuccess ? t('forgot.done') : ''}</Text>
          <Button type="submit" loading={send.isPending}>
            {t('forgot.submit')}
          </Button>
          <Anchor component={Link} to="/sign-in" size="sm">
            {t('back')}
          </Anchor>
        </Stack>
      </form>
    </SignedOutPage>
  );
}
