import { Button, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useAction } from '../api/api.js';
import { FailureNote } from '../frame/failure-note.js';

/** Sends the mail that confirms an address once more. */
export function SendAgain({ email }: { email: string }) {
  const { t } = useTranslation('signIn');
  const send = useAction('sendVerificationMail');
  return (
    <>
      <Button variant="default" loading={send.isPending} onClick={() => send.mutate({ body: { email } })}>
        {t('sent.again')}
      </Button>
      <Text size="sm" role="status">
        {send.isSuccess ? t('sent.done') : ''}
      </Text>
      <FailureNote error={send.error} />
    </>
  );
}
