import { Anchor, Button, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { queryClient, useAction } from '../api/api.js';
import { FailureNote } from '../frame/failure-note.js';
import { sessionQuery } from '../session/session.js';
import { useEnter } from './entering.js';
import { LinkPage } from './link-page.js';

/** Confirms an address. After a sign-up the confirmation signs in, and the visitor goes on. */
export function VerifyPage() {
  const { t } = useTranslation('signIn');
  const enter = useEnter();
  const verify = useAction('verifyAddress', {
    onDone: () =>
      void queryClient.fetchQuery({ ...sessionQuery(), staleTime: 0 }).then((session) => {
        if (typeof session === 'object') enter();
      }),
  });
  return (
    <LinkPage
      path="/verify-email"
      title={t('verify.title')}
      error={verify.error}
      another={{ to: '/sign-in', label: t('verify.another') }}
    >
      {(token) =>
        verify.isSuccess ? (
          <>
            <Text role="status">{t('verify.done')}</Text>
            <Anchor component={Link} to="/sign-in">
              {t('title')}
            </Anchor>
          </>
        ) : (
          <>
            <Text>{t('verify.about')}</Text>
            <FailureNote error={verify.error} />
            <Button loading={verify.isPending} onClick={() => verify.mutate({ body: { token } })}>
              {t('verify.submit')}
            </Button>
          </>
        )
      }
    </LinkPage>
  );
}
