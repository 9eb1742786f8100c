import { Anchor, Button, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useAction } from '../api/api.js';
import { FailureNote } from '../frame/failure-note.js';
import { LinkPage } from './link-page.js';
import { NewPasswordField } from './user-fields.js';

/** Sets a new password; all sessions of the user end. */
export function NewPasswordPage() {
  const { t } = useTranslation('signIn');
  const form = useForm({ initialValues: { password: '' } });
  const reset = useAction('resetPassword');
  return (
    <LinkPage
      path="/new-password"
      title={t('newPasswordPage.title')}
      error={reset.error}
      another={{ to: '/forgot-password', label: t('newPasswordPage.another') }}
    >
      {(token) =>
        reset.isSuccess ? (
          <>
            <Text role="status">{t('newPasswordPage.done')}</Text>
            <Anchor component={Link} to="/sign-in">
              {t('title')}
            </Anchor>
          </>
        ) : (
          <form onSubmit={form.onSubmit(({ password }) => reset.mutate({ body: { token, password } }))}>
            <Stack>
              <Text>{t('newPasswordPage.about')}</Text>
              <NewPasswordField input={form.getInputProps('password')} error={reset.error} />
              <FailureNote error={reset.error} fields={['password']} />
              <Button type="submit" loading={reset.isPending}>
                {t('newPasswordPage.submit')}
              </Button>
            </Stack>
          </form>
        )
      }
    </LinkPage>
  );
}
