import { Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useAction } from '../api/api.js';
import { FailureNote, fieldFault } from '../frame/failure-note.js';
import { SignedOutPage } from '../frame/signed-out-page.js';

/** Address and password, then a code where the second factor is on. */
export function SignInPage() {
  const { t } = useTranslation('signIn');
  const navigate = useNavigate();
  const [needsCode, setNeedsCode] = useState(false);
  const enter = (): void => void navigate({ to: '/' });
  const form = useForm({ initialValues: { email: '', password: '' } });
  const signIn = useAction('signIn', {
    changes: ['getSession', 'listAccounts'],
    onDone: ({ code_required }) => (code_required ? setNeedsCode(true) : enter()),
  });
  if (needsCode) return <CodePage onDone={enter} />;
  return (
    <SignedOutPage title={t('title')}>
      <form onSubmit={form.onSubmit((body) => signIn.mutate({ body }))}>
        <Stack>
          <TextInput
            label={t('email')}
            type="email"
            autoComplete="username"
            error={fieldFault(signIn.error, 'email')}
            {...form.getInputProps('email')}
          />
          <PasswordInput
            label={t('password')}
            autoComplete="current-password"
            error={fieldFault(signIn.error, 'password')}
            {...form.getInputProps('password')}
          />
          <FailureNote error={signIn.error} fields={['email', 'password']} />
          <Button type="submit" loading={signIn.isPending}>
            {t('submit')}
          </Button>
        </Stack>
      </form>
    </SignedOutPage>
  );
}

function CodePage({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation('signIn');
  const form = useForm({ initialValues: { code: '' } });
  const signIn = useAction('signInWithCode', { changes: ['getSession', 'listAccounts'], onDone });
  return (
    <SignedOutPage title={t('codeTitle')}>
      <form onSubmit={form.onSubmit((body) => signIn.mutate({ body }))}>
        <Stack>
          <TextInput
            label={t('code')}
            inputMode="numeric"
            autoComplete="one-time-code"
            autoFocus
            error={fieldFault(signIn.error, 'code')}
            {...form.getInputProps('code')}
          />
          <FailureNote error={signIn.error} fields={['code']} />
          <Button type="submit" loading={signIn.isPending}>
            {t('submit')}
          </Button>
        </Stack>
      </form>
    </SignedOutPage>
  );
}
