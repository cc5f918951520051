"""Lets `python -m agents` run the command line."""

if __name__ == "__main__":
    from agents.start import main

    main()
