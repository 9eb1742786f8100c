import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import { useAction } from '../api/api.js';
import { FailureNote, fieldFault } from '../frame/failure-note.js';
import { PasswordField } from '../frame/password-field.js';
import { passwordProof } from './password-proof.js';
import { useSession } from './session.js';

/** Requests the password, and a code with a second factor; what waited for it goes on. */
export function PasswordDialog() {
  const { t } = useTranslation();
  const isOpen = useSyncExternalStore(passwordProof.subscribe, () => passwordProof.isRequested);
  return (
    <Modal opened={isOpen} onClose={() => passwordProof.end(false)} title={t('password.title')}>
      {isOpen && <PasswordForm />}
    </Modal>
  );
}

function PasswordForm() {
  const { t } = useTranslation();
  const session = useSession();
  const form = useForm({ initialValues: { password: '', code: '' } });
  const prove = useAction('prove', { changes: ['getSession'], onDone: () => passwordProof.end(true) });
  const needsCode = session?.user.second_factor === true;
  const submit = ({ password, code }: typeof form.values): void =>
    prove.mutate({ body: { password, ...(needsCode ? { code } : {}) } });
  return (
    <form onSubmit={form.onSubmit(submit)}>
      <Stack>
        <Text size="sm">{t('password.why')}</Text>
        <PasswordField
          label={t('password.label')}
          autoComplete="current-password"
          data-autofocus
          error={fieldFault(prove.error, 'password')}
          {...form.getInputProps('password')}
        />
        {needsCode && (
          <TextInput
            label={t('password.code')}
            autoComplete="one-time-code"
            inputMode="numeric"
            error={fieldFault(prove.error, 'code')}
            {...form.getInputProps('code')}
          />
        )}
        <FailureNote error={prove.error} fields={['password', 'code']} />
        <Group justify="flex-end">
          <Button variant="default" onClick={() => passwordProof.end(false)}>
            {t('cancel')}
          </Button>
          <Button type="submit" loading={prove.isPending}>
            {t('password.confirm')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
