import { TextInput } from '@mantine/core';
import type { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { fieldFault } from '../frame/failure-note.js';
import { PasswordField } from '../frame/password-field.js';

interface FieldProps {
  /** Of the form. */
  input: ReturnType<ReturnType<typeof useForm>['getInputProps']>;
  /** What the operation failed with; shown here if it names this field. */
  error: Error | null;
}

export function AddressField({ input, error, autoComplete = 'email' }: FieldProps & { autoComplete?: string }) {
  const { t } = useTranslation('signIn');
  return (
    <TextInput
      label={t('email')}
      type="email"
      required
      autoComplete={autoComplete}
      {...input}
      error={fieldFault(error, 'email')}
    />
  );
}

export function NameField({ input, error }: FieldProps) {
  const { t } = useTranslation('signIn');
  return <TextInput label={t('name')} required autoComplete="name" {...input} error={fieldFault(error, 'name')} />;
}

/** A password that is new, with what makes a good one. */
export function NewPasswordField({ input, error }: FieldProps) {
  const { t } = useTranslation('signIn');
  return (
    <PasswordField
      label={t('newPassword')}
      description={t('passwordHint')}
      required
      autoComplete="new-password"
      {...input}
      error={fieldFault(error, 'password')}
    />
  );
}
