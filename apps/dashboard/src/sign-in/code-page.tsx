import { Anchor, Button, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useAction } from '../api/api.js';
import { FailureNote, fieldFault } from '../frame/failure-note.js';
import { SignedOutPage } from '../frame/signed-out-page.js';
import { useEnter } from './entering.js';

/** The second step of a sign-in: a code of the authenticator app, or a recovery code where the phone is lost. */
export function CodePage() {
  const { t } = useTranslation('signIn');
  const { return_to: returnTo } = useSearch({ from: '/sign-in/code' });
  const enter = useEnter();
  const [isRecovery, setRecovery] = useState(false);
  const form = useForm({ initialValues: { code: '' } });
  const signIn = useAction('signInWithCode', { onDone: () => enter(returnTo) });
  const submit = ({ code }: typeof form.values): void => {
    const typed = code.replace(/\s/g, '');
    signIn.mutate({ body: isRecovery ? { recovery_code: typed } : { code: typed } });
  };
  const change = (): void => {
    setRecovery(!isRecovery);
    signIn.reset();
    form.reset();
  };
  const field = isRecovery ? 'recovery_code' : 'code';
  return (
    <SignedOutPage title={t('codeTitle')}>
      <form onSubmit={form.onSubmit(submit)}>
        <Stack>
          <Text size="sm">{t(isRecovery ? 'recoveryAbout' : 'codeAbout')}</Text>
          <TextInput
            key={field}
            label={t(isRecovery ? 'recoveryCode' : 'code')}
            inputMode={isRecovery ? 'text' : 'numeric'}
            autoComplete={isRecovery ? 'off' : 'one-time-code'}
            required
            data-autofocus
            {...form.getInputProps('code')}
            error={fieldFault(signIn.error, field)}
          />
          <FailureNote error={signIn.error} fields={[field]} />
          <Button type="submit" loading={signIn.isPending}>
            {t('submit')}
          </Button>
          <Button variant="subtle" onClick={change}>
            {t(isRecovery ? 'useCode' : 'useRecovery')}
          </Button>
          <Anchor component={Link} to="/sign-in" size="sm">
            {t('back')}
          </Anchor>
        </Stack>
      </form>
    </SignedOutPage>
  );
}
