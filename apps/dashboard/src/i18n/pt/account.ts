import type { Catalogue } from '../catalogue.js';

export const account: Catalogue['account'] = {
  name: 'Nome da conta',
  first: {
    title: 'Dê um nome à sua conta',
    about:
      'Os canais pertencem a uma conta, assim como as pessoas que trabalham com eles. O nome da sua empresa é uma boa escolha.',
    submit: 'Criar conta',
    invited: 'Você foi convidado para uma conta? Abra o link do convite: você se torna membro quando o aceita.',
  },
};
