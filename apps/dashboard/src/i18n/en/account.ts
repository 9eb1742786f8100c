export const account = {
  name: 'Name of the account',
  first: {
    title: 'Name your account',
    about: 'Channels belong to an account, and so do the people who work with them. Your company’s name is a good one.',
    submit: 'Create account',
    invited:
      'Were you invited to an account? Open the link in the invitation instead: you become a member when you accept it.',
  },
} as const;
